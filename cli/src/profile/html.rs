//! A profile as a part of a page for a browser (`lockstep_page`), and as its own page.

use super::{Figure, Profile, Trouble, sources};
use lockstep_page::{Counted, Hardware, Kernel, Page, Player, Remark, Run, State};
use std::collections::BTreeMap;

/// The page of one profile, with a player of a block's run if there is one.
pub fn page(profile: &Profile, player: Option<Player>) -> String {
    let Profile { kernel, shape, .. } = profile;
    let mut page = Page::new(format!("{kernel} at {shape}"));
    page.group(profile.lesson, profile.title, profile.idea)
        .add(Kernel {
            player,
            ..self::kernel(profile)
        });
    page.html()
}

/// Everything that a profile says about its kernel.
pub fn kernel(profile: &Profile) -> Kernel {
    let lines = profile.rows.iter().filter_map(|row| row.line.as_ref());
    let mut texts = BTreeMap::new();
    for place in lines {
        if !texts.contains_key(&place.file)
            && let Some(text) = sources::text(&place.file)
        {
            texts.insert(place.file.clone(), text);
        }
    }
    Kernel {
        technique: profile.technique.to_owned(),
        runs: vec![run(profile)],
        counted: Ok(counted(profile)),
        sources: texts,
        ..Kernel::new(profile.kernel.clone())
    }
}

fn run(profile: &Profile) -> Run {
    let state = match profile.trouble {
        Some(Trouble::NotRun(_)) => State::NotRun,
        _ if profile.is_right() => State::Passed,
        _ => State::Failed,
    };
    Run {
        shape: profile.shape.clone(),
        state,
        // It is among the remarks.
        reason: None,
        notes: Vec::new(),
    }
}

fn counted(profile: &Profile) -> Counted {
    let figure = |figure: &Figure| (figure.metric.to_owned(), figure.predicted, figure.measured);
    Counted {
        shape: profile.shape.clone(),
        geometry: profile.geometry.clone(),
        n_launches: profile.n_launches,
        others: profile.others.clone(),
        module: profile.module.clone(),
        target: profile.target.clone(),
        file: profile.source.to_owned(),
        rows: profile.rows.clone(),
        totals: profile.counts,
        remarks: remarks(profile),
        hardware: (!profile.hardware.is_empty()).then(|| Hardware {
            figures: profile.hardware.iter().map(figure).collect(),
            command: profile.command.clone(),
        }),
    }
}

/// Deviations from what was expected.
fn remarks(profile: &Profile) -> Vec<Remark> {
    let trouble = profile.trouble.iter().map(|trouble| Remark {
        label: trouble.label().to_owned(),
        text: trouble.reason().to_owned(),
    });
    let differences = profile.differences.iter().map(|difference| Remark {
        label: "differs from the catalogue".to_owned(),
        text: difference.to_string(),
    });
    trouble.chain(differences).collect()
}
