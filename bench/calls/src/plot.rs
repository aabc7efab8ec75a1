//! Round trips against the size of the message, a line for each way.

use std::path::Path;

use plotters::{coord::Shift, prelude::*};

use crate::{
    Failure,
    report::{Report, Row},
    ways::SIZES,
};

/// Draws what polls, and what blocks.
pub fn draw(file: &Path, report: &Report) -> Result<(), Failure> {
    let area = SVGBackend::new(file, (1100, 520)).into_drawing_area();
    let drawn = area.fill(&WHITE).map_err(|error| error.to_string()).and_then(|()| {
        for (panel, wait) in area.split_evenly((1, 2)).iter().zip(["poll", "block"]) {
            let of = |row: &&Row| row.outstanding == 1 && row.wait == wait;
            let rows: Vec<&Row> = report.rows.iter().filter(of).collect();
            self::panel(panel, &rows, wait).map_err(|error| error.to_string())?;
        }
        area.present().map_err(|error| error.to_string())
    });
    drawn.map_err(|error| format!("{}: {error}", file.display()).into())
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn panel<'a>(area: &Area<'a>, rows: &[&Row], wait: &str) -> Result<(), Box<dyn std::error::Error + 'a>> {
    let us = || rows.iter().map(|row| row.median_ns / 1e3);
    let (least, most) = (us().fold(f64::MAX, f64::min), us().fold(0.0, f64::max));
    let (short, long) = (f64::from(SIZES[0]), f64::from(SIZES[SIZES.len() - 1]));
    let mut chart = ChartBuilder::on(area)
        .caption(if wait == "poll" { "polling" } else { "blocking" }, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(52)
        // Room for the legend above.
        .build_cartesian_2d((short * 0.8..long * 1.25).log_scale(), (least * 0.8..most * 20.0).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("bytes, each way")
        .y_desc("round trip, us")
        .x_label_formatter(&|bytes| format!("{bytes}"))
        .y_label_formatter(&|us| format!("{us}"))
        .light_line_style(WHITE)
        .draw()?;
    let mut names: Vec<&str> = rows.iter().map(|row| &*row.way).collect();
    names.dedup();
    for (at, name) in names.into_iter().enumerate() {
        let style = style(name, at);
        let of = rows.iter().filter(|row| row.way == name);
        let points: Vec<(f64, f64)> = of.map(|row| (f64::from(row.bytes), row.median_ns / 1e3)).collect();
        chart
            .draw_series(LineSeries::new(points, style.filled()).point_size(3))?
            .label(name)
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

/// Colours that differ without red and green too (Okabe and Ito); ours over shared memory stands out.
fn style(name: &str, at: usize) -> ShapeStyle {
    const OTHERS: [(u8, u8, u8); 8] = [
        (90, 90, 90),
        (170, 170, 170),
        (0, 114, 178),
        (0, 158, 115),
        (204, 121, 167),
        (86, 180, 233),
        (230, 159, 0),
        (240, 228, 66),
    ];
    if name == crate::ways::SHM {
        return RGBColor(213, 94, 0).stroke_width(3);
    }
    let (red, green, blue) = OTHERS[at % OTHERS.len()];
    RGBColor(red, green, blue).stroke_width(2)
}
