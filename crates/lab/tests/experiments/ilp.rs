//! What the experiment `ilp` must show on any machine: all rows, and in a release build that fusing saves where it must.

use serde_json::Value;

use super::Row;

fn values(rows: &[Row], wanted: &[(&str, Value)]) -> Vec<f64> {
    let found = rows.iter().filter(|row| wanted.iter().all(|(k, v)| row.get(*k) == Some(v)));
    found.map(|row| row["value"].as_f64().unwrap()).collect()
}

fn time(rows: &[Row], stages: &str, way: &str, bytes: u32) -> f64 {
    let wanted = [
        ("metric", "time".into()),
        ("stages", stages.into()),
        ("way", way.into()),
        ("bytes", bytes.into()),
        ("memory", "warm".into()),
    ];
    let found = values(rows, &wanted);
    assert_eq!(found.len(), 1, "{wanted:?}");
    found[0]
}

#[test]
fn stages_in_one_pass_and_in_several() {
    let folder = std::env::temp_dir().join(format!("throughline-ilp-{}", std::process::id()));
    let (rows, _) = super::run("ilp", &["--plots", folder.to_str().unwrap()]);
    let figure = std::fs::read_to_string(folder.join("ilp.svg")).unwrap();
    assert!(figure.starts_with("<svg") && figure.contains("copy+checksum"));
    std::fs::remove_dir_all(folder).unwrap();
    for (metric, stages, ways) in [
        ("time", "copy+checksum", 2),
        ("time", "copy+crc32c", 3),
        ("time", "checksum+chacha20+swap32", 2),
        ("gain", "copy+checksum", 1),
        ("gain", "copy+checksum+crc32c+swap32", 1),
    ] {
        let found = values(&rows, &[("metric", metric.into()), ("stages", stages.into())]);
        assert_eq!(found.len(), ways * 3 * 2, "{metric} of {stages}: three sizes, warm and cold");
        assert!(found.iter().all(|value| *value > 0.0), "{found:?}");
    }
    let gain = [("metric", "gain".into()), ("stages", "copy+checksum".into()), ("memory", "warm".into())];
    let ratio = time(&rows, "copy+checksum", "separate", 1400) / time(&rows, "copy+checksum", "fused", 1400);
    let told = values(&rows, &gain)[1];
    assert!((ratio / told - 1.0).abs() < 0.05, "{ratio} and {told}");
    if super::counts() {
        assert!(told > 1.0, "one pass is {told} times as fast as two");
    }
}
