//! The packages in cargo's metadata, and what each depends on.

use serde_json::Value;
use std::collections::BTreeMap;

/// Both by cargo's ids.
pub(crate) struct Graph<'a> {
    pub packages: BTreeMap<&'a str, &'a Value>,
    pub edges: BTreeMap<&'a str, &'a Vec<Value>>,
}

impl<'a> Graph<'a> {
    /// That of some metadata, unless it has another form than cargo's.
    pub fn of(metadata: &'a Value) -> Option<Self> {
        let packages = metadata["packages"].as_array()?.iter();
        let nodes = metadata["resolve"]["nodes"].as_array()?.iter();
        Some(Self {
            packages: packages
                .filter_map(|package| Some((package["id"].as_str()?, package)))
                .collect(),
            edges: nodes
                .filter_map(|node| Some((node["id"].as_str()?, node["deps"].as_array()?)))
                .collect(),
        })
    }
}
