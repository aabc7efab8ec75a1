//! The report as a page that opens anywhere: one file, pictures within, nothing to load.

use std::fmt::Write;
use std::io;

use super::by_size::{BySize, Cost};
use super::report::Report;
use super::tables::Unit;
use crate::Table;
use crate::plot::{Plot, Series};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{padding:.15rem .7rem;text-align:right}\
td:first-child,th:first-child{text-align:left}th{border-bottom:1px solid #888}tr:nth-child(even){background:#f4f4f4}\
.advice{font-size:1.2rem;border-left:4px solid #0072b2;padding-left:1rem}.fault{border-left:4px solid #d55e00;padding-left:1rem}\
svg{max-width:100%;height:auto}";

/// Fewer entries than this are drawn as this many: factors have no 0.
const LEAST_ENTRIES: f64 = 0.1;
/// Times of fewer packets are not drawn, if there are others.
const LEAST_TIMED: u64 = 64;

impl Report {
    /// The report as HTML, of a capture of this name.
    ///
    /// # Errors
    /// When a picture cannot be drawn.
    pub fn html(&self, name: &str) -> io::Result<String> {
        let mut page = String::new();
        let title = format!("Which lookup suits {}?", escaped(name));
        page += "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n";
        page += &format!("<title>{title}</title>\n<style>{STYLE}</style></head>\n<body>\n<h1>{title}</h1>\n");
        let advice = self.nothing().or_else(|| self.recommendation().map(|advice| advice.sentence));
        if let Some(advice) = advice {
            page += &format!("<p class=\"advice\">{}</p>\n", escaped(&advice));
        }
        if let Some(fault) = &self.fault {
            let fault = escaped(&fault.to_string());
            page += &format!("<p class=\"fault\">The capture could not be read to its end: {fault}.</p>\n");
        }
        for table in self.tables() {
            html_table(&mut page, &table);
        }
        for plot in self.plots() {
            page += &plot.svg()?;
            page.push('\n');
        }
        page += "</body></html>\n";
        Ok(page)
    }

    fn plots(&self) -> Vec<Plot> {
        if self.nothing().is_some() {
            return Vec::new();
        }
        let all = [
            self.trains_plot(),
            self.entries_plot(),
            self.time_plot(),
            self.flows_plot(),
            self.window_plot(),
        ];
        let drawn = all.into_iter().map(|plot| Plot {
            series: plot.series.into_iter().filter(|series| !series.line.is_empty()).collect(),
            ..plot
        });
        drawn.filter(|plot| !plot.series.is_empty()).collect()
    }

    fn trains_plot(&self) -> Plot {
        let total = self.trains.total() as f64;
        // A step function: it stays until the next length.
        let mut line = Vec::new();
        let mut before = 0.0;
        for (length, below) in self.trains.cumulative() {
            line.push((length as f64, before));
            before = below as f64 * 100.0 / total;
            line.push((length as f64, before));
        }
        plot("Lengths of trains", "packets of one flow in a row, at most", "% of trains", line)
    }

    fn window_plot(&self) -> Plot {
        let line = self.working_set.iter().map(|point| (point.window as f64, point.flows)).collect();
        plot("Working set, within 2 %", "packets in the window", "flows, in the mean over all windows", line)
    }

    fn flows_plot(&self) -> Plot {
        let (unit, width) = (Unit::of(self.duration), self.over_time.width());
        let bins = self.over_time.bins().iter().enumerate();
        let time = |at: usize| unit.of_nanoseconds(at as u64 * width);
        let line = bins.map(|(at, moment)| (time(at), moment.live as f64)).collect();
        Plot { logarithmic: false, ..plot("Flows over time", unit.name, "flows alive", line) }
    }

    fn entries_plot(&self) -> Plot {
        // The others examine one entry or none, by their nature.
        let able = self.lookups.iter().filter(|lookup| lookup.condition().is_none());
        let series = able.map(|lookup| {
            let costs = lookup.by_size.iter();
            let line =
                costs.filter_map(|(flows, cost)| Some((flows, cost.entries_each()?.max(LEAST_ENTRIES))));
            series(lookup.strategy.name(), line.collect())
        });
        let plot = plot("Cost against table size", "flows alive", "entries examined for a packet", vec![]);
        Plot { logarithmic_y: true, series: series.collect(), ..plot }
    }

    fn time_plot(&self) -> Plot {
        let walked = self.lookups.iter().filter(|lookup| !lookup.strategy.is_list());
        let series = walked.map(|lookup| series(lookup.strategy.name(), times(&lookup.by_size)));
        let plot = plot("Time against table size", "flows alive", "ns for a packet", vec![]);
        Plot { series: series.collect(), ..plot }
    }
}

/// Times by number of flows, in octaves: most tables double once in each, which takes time.
fn times(by_size: &BySize) -> Vec<(f64, f64)> {
    let least = LEAST_TIMED.min(by_size.total().timed / 8);
    let steps: Vec<_> = by_size.iter().collect();
    let octave = |steps: &[(f64, Cost)]| {
        let (timed, flows) = steps.iter().fold((Cost::default(), 0.0), |(sum, weighted), (flows, cost)| {
            (sum.joined(cost), weighted + flows * cost.timed as f64)
        });
        timed
            .nanoseconds_each()
            .filter(|_| timed.timed >= least)
            .map(|time| (flows / timed.timed as f64, time))
    };
    steps.chunks(2).filter_map(octave).collect()
}

/// A line, and its points if they are too few to be seen as one.
fn series(name: &str, line: Vec<(f64, f64)>) -> Series {
    let points = if line.len() < 3 { line.clone() } else { Vec::new() };
    Series { name: name.to_owned(), line, points }
}

fn plot(title: &str, x: &str, y: &str, line: Vec<(f64, f64)>) -> Plot {
    Plot {
        title: title.to_owned(),
        x: x.to_owned(),
        y: y.to_owned(),
        logarithmic: true,
        series: vec![series(y, line)],
        ..Plot::default()
    }
}

fn html_table(page: &mut String, table: &Table) {
    let cells = |kind: &str, cells: &[String]| -> String {
        let cells = cells.iter().map(|cell| format!("<{kind}>{}</{kind}>", escaped(cell)));
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    // Writing to a String cannot fail.
    let _ = write!(page, "<h2>{}</h2>\n<table>\n{}", escaped(&table.title), cells("th", &table.head));
    table.lines.iter().for_each(|line| page.push_str(&cells("td", line)));
    page.push_str("</table>\n");
    table.remarks.iter().for_each(|remark| *page += &format!("<p>{}</p>\n", escaped(remark)));
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
