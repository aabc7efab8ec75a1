//! The report as a page that opens anywhere: one file, pictures within, nothing to load.

use std::fmt::Write;
use std::io;

use super::report::Report;
use super::summary::Summary;
use crate::Table;
use crate::plot::{Plot, Series};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{padding:.15rem .7rem;text-align:right}\
td:first-child,th:first-child{text-align:left}th{border-bottom:1px solid #888}tr:nth-child(even){background:#f4f4f4}\
.advice{font-size:1.2rem;border-left:4px solid #0072b2;padding-left:1rem}.fault{border-left:4px solid #d55e00;padding-left:1rem}\
svg{max-width:100%;height:auto}";

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
        if let Some(recommendation) = self.recommendation() {
            page += &format!("<p class=\"advice\">{}</p>\n", escaped(&recommendation.sentence));
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
        let all = [
            self.trains_plot(),
            self.entries_plot(),
            self.time_plot(),
            self.flows_plot(),
            self.window_plot(),
        ];
        all.into_iter().filter(|plot| plot.series.iter().any(|series| !series.line.is_empty())).collect()
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
        plot("Working set", "packets in the window", "flows, in the mean", line)
    }

    fn flows_plot(&self) -> Plot {
        let width = self.over_time.width() as f64 / 1e9;
        let bins = self.over_time.bins().iter().enumerate();
        let line = bins.map(|(at, moment)| (at as f64 * width, moment.live as f64)).collect();
        Plot { logarithmic: false, ..plot("Flows over time", "seconds", "flows alive", line) }
    }

    fn entries_plot(&self) -> Plot {
        // The others examine one entry or none, by their nature.
        let searching =
            self.lookups.iter().filter(|lookup| !lookup.which.must_freeze() && !lookup.which.needs_index());
        let series = searching.map(|lookup| Series {
            name: lookup.which.name().to_owned(),
            line: costs(lookup, |cost| cost.entries).into_iter().map(log10).collect(),
            points: Vec::new(),
        });
        let plot =
            plot("Cost against table size", "flows alive", "entries examined for a packet, log10", vec![]);
        Plot { series: series.collect(), ..plot }
    }

    fn time_plot(&self) -> Plot {
        let walked = self.lookups.iter().filter(|lookup| !lookup.which.is_list());
        let series = walked.map(|lookup| Series {
            name: lookup.which.name().to_owned(),
            line: costs(lookup, |cost| cost.nanoseconds),
            points: Vec::new(),
        });
        let plot = plot("Time against table size", "flows alive", "ns for a packet", vec![]);
        Plot { series: series.collect(), ..plot }
    }
}

/// The lists are orders of magnitude above the tables. Less than one entry is shown as one.
fn log10((flows, entries): (f64, f64)) -> (f64, f64) {
    (flows, entries.max(1.0).log10())
}

fn costs(lookup: &Summary, of: impl Fn(super::by_size::Cost) -> u64) -> Vec<(f64, f64)> {
    lookup.by_size.iter().map(|(flows, cost)| (flows, of(cost) as f64 / cost.packets as f64)).collect()
}

fn plot(title: &str, x: &str, y: &str, line: Vec<(f64, f64)>) -> Plot {
    Plot {
        title: title.to_owned(),
        x: x.to_owned(),
        y: y.to_owned(),
        logarithmic: true,
        series: vec![Series { name: y.to_owned(), line, points: Vec::new() }],
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
