//! A timeline as text: a line for each warp, a column for each step.

use crate::Timeline;
use crate::timeline::{Span, SpanKind};

/// Columns before the steps.
const MARGIN: usize = 9;

fn character(kind: SpanKind) -> char {
    match kind {
        SpanKind::Waiting => '─',
        SpanKind::Copying | SpanKind::BulkCopy => '=',
        SpanKind::Multiplying => '~',
    }
}

impl Timeline {
    /// The timeline in lines of this many columns: its beginning, if there is no room for all.
    pub fn text(&self, columns: usize) -> String {
        let mut text = self.summary();
        text.push('\n');
        let room = columns.saturating_sub(MARGIN).max(8);
        let shown = (self.n_steps as usize).min(room);
        for row in &self.warps {
            let mut line = vec![' '; shown];
            row.spans.iter().for_each(|span| fill(&mut line, span));
            for mark in &row.marks {
                if let Some(place) = line.get_mut(mark.step as usize) {
                    *place = mark.kind.letter();
                }
            }
            push(&mut text, &format!("warp {:>2}", row.warp), line);
        }
        if !self.copies.is_empty() {
            let mut line = vec![' '; shown];
            self.copies.iter().for_each(|span| fill(&mut line, span));
            push(&mut text, "bulk", line);
        }
        if !self.phases.is_empty() {
            let mut line = vec![' '; shown];
            for (step, _) in &self.phases {
                if let Some(place) = line.get_mut(*step as usize) {
                    *place = '^';
                }
            }
            push(&mut text, "phases", line);
        }
        if shown < self.n_steps as usize {
            text.push_str(&format!("… {} more steps\n", self.n_steps as usize - shown));
        }
        self.legend(&mut text);
        text
    }

    fn legend(&self, text: &mut String) {
        let (marks, spans) = self.kinds();
        for kind in marks {
            text.push_str(&format!("  {} {}\n", kind.letter(), kind.words()));
        }
        for kind in spans {
            text.push_str(&format!("  {} {}\n", character(kind), kind.words()));
        }
        if !self.phases.is_empty() {
            text.push_str("  ^ the phase of an mbarrier ends\n");
        }
    }
}

fn fill(line: &mut [char], span: &Span) {
    let steps = line.iter_mut().enumerate();
    for (_, place) in steps.filter(|(step, _)| (span.from..span.to).contains(&(*step as u32))) {
        *place = character(span.kind);
    }
}

fn push(text: &mut String, head: &str, line: Vec<char>) {
    let line: String = line.into_iter().collect();
    text.push_str(format!("{head:>7}: {line}").trim_end());
    text.push('\n');
}
