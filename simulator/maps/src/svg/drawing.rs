//! A picture that is being drawn.

use std::fmt::Write;

/// A picture that is being drawn. Lengths are in pixels.
pub(super) struct Drawing {
    body: String,
    width: u32,
    height: u32,
}

impl Drawing {
    pub fn new() -> Self {
        Self {
            body: String::new(),
            width: 0,
            height: 0,
        }
    }

    /// A rectangle with its class, and the text that is shown when the pointer is over it.
    pub fn cell(&mut self, class: &str, (x, y): (u32, u32), (w, h): (u32, u32), title: &str) {
        self.reach(x + w, y + h);
        let shape =
            format!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"");
        // Writing to a string never fails.
        let _ = match title {
            "" => write!(self.body, "{shape}/>"),
            title => write!(
                self.body,
                "{shape}><title>{}</title></rect>",
                escaped(title)
            ),
        };
    }

    /// A line of text; the position is that of the baseline, at the first letter or in the middle.
    pub fn text(&mut self, class: &str, (x, y): (u32, u32), text: &str) {
        let text = escaped(text);
        self.reach(x, y + 4);
        let _ = write!(
            self.body,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"
        );
    }

    /// Like [`text`](Self::text), but reserves about this many pixels to the right for it.
    pub fn heading(&mut self, class: &str, (x, y): (u32, u32), text: &str) {
        self.reach(x + 7 * text.chars().count() as u32, y);
        self.text(class, (x, y), text);
    }

    /// A line from here to there.
    pub fn line(&mut self, class: &str, (x1, y1): (u32, u32), (x2, y2): (u32, u32)) {
        self.reach(x1.max(x2), y1.max(y2));
        let _ = write!(
            self.body,
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        );
    }

    /// Begins a part that pages may show alone; it ends at [`close`](Self::close).
    pub fn open(&mut self, class: &str, number: usize) {
        let _ = write!(self.body, "<g class=\"{class}\" data-{class}=\"{number}\">");
    }

    /// Ends a part.
    pub fn close(&mut self) {
        self.body.push_str("</g>\n");
    }

    fn reach(&mut self, x: u32, y: u32) {
        self.width = self.width.max(x);
        self.height = self.height.max(y);
    }

    /// The picture, with a name for those who cannot see it.
    pub fn finish(self, name: &str, description: &str) -> String {
        let (width, height) = (self.width + 8, self.height + 8);
        let (name, description) = (escaped(name), escaped(description));
        format!(
            "<svg class=\"map\" role=\"img\" aria-label=\"{name}. {description}\" \
             viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\
             <title>{name}</title><desc>{description}</desc>\n{}</svg>",
            self.body
        )
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}
