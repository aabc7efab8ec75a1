//! Nanoseconds per lookup against the number of flows, a line for each table.

use std::path::Path;

use plotters::{coord::Shift, prelude::*};

use crate::report::{HANDLE, KNOWN, Mode, OURS, Row};

/// Draws the lookups of this kind of traffic, in batches and one at a time.
pub fn draw(file: &Path, rows: &[Row], traffic: &str) -> Result<(), String> {
    let area = SVGBackend::new(file, (1000, 460)).into_drawing_area();
    let drawn = area.fill(&WHITE).map_err(|error| error.to_string()).and_then(|()| {
        let panels = area.split_evenly((1, 2));
        for (panel, mode) in panels.iter().zip([Mode::Batched, Mode::Single]) {
            let rows: Vec<_> =
                rows.iter().filter(|row| row.mode == Some(mode) && row.what == traffic).collect();
            self::panel(panel, &rows, mode, traffic).map_err(|error| error.to_string())?;
        }
        area.present().map_err(|error| error.to_string())
    });
    drawn.map_err(|error| format!("{}: {error}", file.display()))
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn panel<'a>(
    area: &Area<'a>,
    rows: &[&Row],
    mode: Mode,
    traffic: &str,
) -> Result<(), Box<dyn std::error::Error + 'a>> {
    let Some(first) = rows.first() else { return Err("no such lookups among the results".into()) };
    let times = || rows.iter().flat_map(|row| &row.times).map(|time| time.ns);
    let flows = || rows.iter().map(|row| row.flows as f64);
    let (least, most) = (times().fold(f64::MAX, f64::min), times().fold(0.0, f64::max));
    let (few, many) = (flows().fold(f64::MAX, f64::min), flows().fold(0.0, f64::max));
    let mut chart = ChartBuilder::on(area)
        .caption(format!("{traffic}, {}", mode.name()), ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(52)
        .build_cartesian_2d((few * 0.8..many * 1.25).log_scale(), (least * 0.8..most * 1.25).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("flows")
        .y_desc("ns per lookup")
        .x_label_formatter(&|flows| short(*flows))
        .y_label_formatter(&|ns| format!("{ns}"))
        .light_line_style(WHITE)
        .draw()?;
    for time in &first.times {
        let style = style(&time.table);
        let points: Vec<(f64, f64)> = rows
            .iter()
            .flat_map(|row| row.times.iter().map(|time| (row.flows, time)))
            .filter(|(_, other)| other.table == time.table)
            .map(|(flows, time)| (flows as f64, time.ns))
            .collect();
        chart
            .draw_series(LineSeries::new(points, style).point_size(3))?
            .label(&time.table)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    Ok(())
}

fn short(flows: f64) -> String {
    match flows as u64 {
        flows @ 1_000_000.. => format!("{} M", flows / 1_000_000),
        flows => format!("{},000", flows / 1_000),
    }
}

/// Colours that differ without red and green too (Okabe and Ito).
fn style(table: &str) -> ShapeStyle {
    match table {
        HANDLE => RGBColor(170, 170, 170).stroke_width(1),
        KNOWN => RGBColor(90, 90, 90).stroke_width(1),
        OURS => RGBColor(213, 94, 0).stroke_width(3),
        "hashbrown" => RGBColor(0, 114, 178).stroke_width(2),
        "absl" => RGBColor(0, 158, 115).stroke_width(2),
        _ => RGBColor(204, 121, 167).stroke_width(2),
    }
}
