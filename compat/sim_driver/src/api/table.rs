//! All functions except those that find others.

use super::call::Entry;
use super::{
    context, copy, device, event, graph, graph_node, host, kernel, launch, legacy, library, link,
    memory, misc, module, occupancy, stream, tensor_map, user_object,
};

pub(super) const ALL: &[&[Entry]] = &[
    context::ENTRIES,
    copy::ENTRIES,
    device::ENTRIES,
    event::ENTRIES,
    graph::ENTRIES,
    graph_node::ENTRIES,
    host::ENTRIES,
    kernel::ENTRIES,
    launch::ENTRIES,
    legacy::ENTRIES,
    library::ENTRIES,
    link::ENTRIES,
    memory::ENTRIES,
    misc::ENTRIES,
    module::ENTRIES,
    occupancy::ENTRIES,
    stream::ENTRIES,
    tensor_map::ENTRIES,
    user_object::ENTRIES,
];
