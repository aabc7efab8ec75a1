//! Figures as SVG: curves, and points beside them.

use std::fs;
use std::io;
use std::path::PathBuf;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;

use crate::Options;
use crate::table::figure;

/// A curve, points, or both, under one name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) line: Vec<(f64, f64)>,
    pub(crate) points: Vec<(f64, f64)>,
}

/// A figure.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plot {
    pub(crate) title: String,
    pub(crate) x: String,
    pub(crate) y: String,
    /// Whether x grows by factors.
    pub(crate) logarithmic: bool,
    pub(crate) series: Vec<Series>,
}

const SIZE: (u32, u32) = (960, 600);
/// Colours that stay apart for most eyes (Okabe and Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

impl Plot {
    /// Writes it into the folder that the user named, if one was.
    pub(crate) fn save(&self, options: &Options, name: &str) -> io::Result<Option<PathBuf>> {
        let Some(folder) = &options.plots else { return Ok(None) };
        fs::create_dir_all(folder)?;
        let path = folder.join(name);
        fs::write(&path, self.svg()?)?;
        Ok(Some(path))
    }

    /// The picture.
    pub(crate) fn svg(&self) -> io::Result<String> {
        let mut text = String::new();
        let (x, y) = self.extent();
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        let drawn = if self.logarithmic {
            self.draw(&area, (x.0..x.1).log_scale(), y)
        } else {
            self.draw(&area, 0.0..x.1, y)
        };
        drawn.map_err(io::Error::other)?;
        drop(area);
        Ok(text)
    }

    fn extent(&self) -> ((f64, f64), f64) {
        let all = self.series.iter().flat_map(|series| series.line.iter().chain(&series.points));
        all.fold(((f64::MAX, 1.0), 0.0), |((least, most), highest), (x, y)| {
            ((x.min(least), x.max(most)), y.max(highest))
        })
    }

    fn draw<X>(
        &self,
        area: &DrawingArea<SVGBackend<'_>, Shift>,
        x: impl AsRangedCoord<CoordDescType = X, Value = f64>,
        highest: f64,
    ) -> Result<(), String>
    where
        X: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let text = |error: DrawingAreaErrorKind<_>| -> String { format!("{error:?}") };
        area.fill(&WHITE).map_err(text)?;
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 20))
            .margin(16)
            .x_label_area_size(48)
            .y_label_area_size(72)
            .build_cartesian_2d(x, 0.0..highest * 1.05)
            .map_err(text)?;
        let label = |value: &f64| figure(*value);
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .x_desc(&self.x)
            .y_desc(&self.y)
            .x_label_formatter(&label)
            .y_label_formatter(&label)
            .draw()
            .map_err(text)?;
        for (series, colour) in self.series.iter().zip(COLOURS.into_iter().cycle()) {
            let line = LineSeries::new(series.line.iter().copied(), colour.stroke_width(2));
            let has_line = !series.line.is_empty();
            chart.draw_series(line).map_err(text)?.label(&series.name).legend(move |(x, y)| {
                if has_line {
                    PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)).into_dyn()
                } else {
                    Circle::new((x + 10, y), 4, colour.filled()).into_dyn()
                }
            });
            let points = series.points.iter().map(|point| Circle::new(*point, 4, colour.filled()));
            chart.draw_series(points).map_err(text)?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()
            .map_err(text)?;
        area.present().map_err(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_their_curves() {
        let line = vec![(1.0, 1.0), (100.0, 50.0)];
        let series =
            |name: &str| Series { name: name.to_owned(), line: line.clone(), points: vec![(10.0, 5.0)] };
        for logarithmic in [false, true] {
            let title = "Cost < benefit".to_owned();
            let plot = Plot { title, logarithmic, series: vec![series("a"), series("b")], ..Plot::default() };
            let svg = plot.svg().unwrap();
            assert!(svg.contains("Cost &lt; benefit") && svg.ends_with("</svg>\n"), "{svg}");
            assert_eq!(
                svg.matches("stroke-width=\"2\"").count(),
                4,
                "two curves, and both in the legend: {svg}"
            );
            assert_eq!(svg.matches("<circle").count(), 2);
        }
        assert!(Plot::default().svg().is_ok(), "nothing to show");
    }
}
