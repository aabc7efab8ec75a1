//! Figures as SVG: curves, and points beside them.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;

use crate::table::figure;
use crate::{LabError, Options};

/// Points of one kind.
pub(crate) type Points = Vec<(f64, f64)>;

/// A curve, points, or both, under one name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) line: Points,
    pub(crate) points: Points,
}

/// A figure.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plot {
    pub(crate) title: String,
    pub(crate) x: String,
    pub(crate) y: String,
    /// Whether x grows by factors.
    pub(crate) logarithmic: bool,
    /// Whether y does, too; then it has no values of 0.
    pub(crate) logarithmic_y: bool,
    pub(crate) series: Vec<Series>,
}

const SIZE: (u32, u32) = (960, 600);
/// Colours that stay apart for most eyes (Okabe and Ito), with grey for their yellow.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(140, 140, 140),
];

/// Makes the folder for figures, and finds out whether files can be written there: before a run, which may take minutes.
pub(crate) fn prepare(folder: &Path) -> Result<(), LabError> {
    let probe = folder.join(format!(".throughline-{}", std::process::id()));
    let tried = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&probe, ""))
        .and_then(|()| fs::remove_file(&probe));
    tried.map_err(|source| LabError::Plots { path: folder.to_owned(), source })
}

impl Plot {
    /// Writes it into the folder that the user named, if one was.
    pub(crate) fn save(&self, options: &Options, name: &str) -> Result<Option<PathBuf>, LabError> {
        self.save_with(options, name, &[])
    }

    /// The same with rings, those of each series in turn: points of another kind.
    pub(crate) fn save_with(
        &self,
        options: &Options,
        name: &str,
        rings: &[Points],
    ) -> Result<Option<PathBuf>, LabError> {
        let Some(folder) = &options.plots else { return Ok(None) };
        let path = folder.join(name);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, self.svg_with(rings)?));
        match written {
            Ok(()) => Ok(Some(path)),
            Err(source) => Err(LabError::Plots { path, source }),
        }
    }

    /// The picture.
    pub(crate) fn svg(&self) -> io::Result<String> {
        self.svg_with(&[])
    }

    fn svg_with(&self, rings: &[Points]) -> io::Result<String> {
        let mut text = String::new();
        let [x, y] = self.extent(rings);
        let (log_x, log_y) = (octaves(x).log_scale(), decades(y).log_scale());
        let (linear_x, linear_y) = (0.0..x.1, 0.0..y.1 * self.headroom());
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        let drawn = match (self.logarithmic, self.logarithmic_y) {
            (false, false) => self.draw(&area, linear_x, linear_y, rings),
            (false, true) => self.draw(&area, linear_x, log_y, rings),
            (true, false) => self.draw(&area, log_x, linear_y, rings),
            (true, true) => self.draw(&area, log_x, log_y, rings),
        };
        drawn.map_err(io::Error::other)?;
        drop(area);
        Ok(text)
    }

    /// As a factor: room above the curves for the legend, if there is one.
    fn headroom(&self) -> f64 {
        if self.series.len() < 2 { 1.05 } else { 1.05 + 0.04 * self.series.len() as f64 }
    }

    /// The least and the largest x and y.
    fn extent(&self, rings: &[Points]) -> [(f64, f64); 2] {
        let all = self.series.iter().flat_map(|series| series.line.iter().chain(&series.points));
        let all = all.chain(rings.iter().flatten());
        let wider = |(least, most): (f64, f64), value: f64| (value.min(least), value.max(most));
        let none = [(f64::MAX, 1.0), (f64::MAX, 0.0)];
        let extent = all.fold(none, |[x, y], point| [wider(x, point.0), wider(y, point.1)]);
        if extent == none { [(1.0, 1.0); 2] } else { extent }
    }

    fn draw<X, Y>(
        &self,
        area: &DrawingArea<SVGBackend<'_>, Shift>,
        x: impl AsRangedCoord<CoordDescType = X, Value = f64>,
        y: impl AsRangedCoord<CoordDescType = Y, Value = f64>,
        rings: &[Points],
    ) -> Result<(), String>
    where
        X: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let text = |error: DrawingAreaErrorKind<_>| -> String { format!("{error:?}") };
        area.fill(&WHITE).map_err(text)?;
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 20))
            .margin(16)
            .x_label_area_size(48)
            .y_label_area_size(72)
            .build_cartesian_2d(x, y)
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
        for (rings, colour) in rings.iter().zip(COLOURS.into_iter().cycle()) {
            let rings = rings.iter().map(|ring| Circle::new(*ring, 7, colour.stroke_width(2)));
            chart.draw_series(rings).map_err(text)?;
        }
        if self.series.len() < 2 {
            return area.present().map_err(text);
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

/// A range that is wide enough to have labels.
fn octaves((least, most): (f64, f64)) -> Range<f64> {
    if most >= least * 4.0 { least..most } else { (least / 2.0).max(least.min(1.0))..most * 2.0 }
}

/// Whole powers of ten around a range.
fn decades((least, most): (f64, f64)) -> Range<f64> {
    let (low, high) = (least.log10().floor(), most.log10().ceil());
    10_f64.powf(low)..10_f64.powf(if high > low { high } else { low + 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_their_curves() {
        let line = vec![(1.0, 1.0), (100.0, 50.0)];
        let series =
            |name: &str| Series { name: name.to_owned(), line: line.clone(), points: vec![(10.0, 5.0)] };
        for (logarithmic, logarithmic_y) in [(false, false), (true, false), (false, true), (true, true)] {
            let title = "Cost < benefit".to_owned();
            let series = vec![series("a"), series("b")];
            let plot = Plot { title, logarithmic, logarithmic_y, series, ..Plot::default() };
            let svg = plot.svg_with(&[vec![(20.0, 8.0)]]).unwrap();
            assert!(svg.contains("Cost &lt; benefit") && svg.ends_with("</svg>\n"), "{svg}");
            assert_eq!(
                svg.matches("stroke-width=\"2\"").count(),
                5,
                "two curves, both in the legend, and the ring: {svg}"
            );
            assert_eq!(svg.matches("<circle").count(), 3, "two points and a ring");
        }
        for (logarithmic, logarithmic_y) in [(false, false), (true, true)] {
            let empty = Plot { logarithmic, logarithmic_y, ..Plot::default() };
            assert!(empty.svg().is_ok(), "nothing to show");
        }
    }

    #[test]
    fn ranges() {
        assert_eq!((octaves((1.0, 1.0)), octaves((700.0, 900.0))), (1.0..2.0, 350.0..1800.0));
        assert_eq!((octaves((1.0, 4.0)), octaves((0.1, 0.2))), (1.0..4.0, 0.1..0.4));
        assert_eq!((decades((0.1, 1.0)), decades((0.9, 1.1))), (0.1..1.0, 0.1..10.0));
        assert_eq!((decades((1.0, 1.0)), decades((5.0, 5000.0))), (1.0..10.0, 1.0..10_000.0));
    }
}
