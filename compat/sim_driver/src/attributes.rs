//! A device's attributes (`cuDeviceGetAttribute`): an H200's values, as its driver reports them
//! (580, CUDA 13.0), unless the settings or the simulator say otherwise.

use ptx_sim::DeviceConfig;

use crate::settings::Settings;

/// `CU_DEVICE_ATTRIBUTE_…` and an H200's values.
const H200: &[(u32, i32)] = &include!("h200_attributes.in");

/// Attributes for features that are not simulated: memory operations of streams, virtual memory,
/// memory and events of other processes, multicast.
const NOT_SIMULATED: &[u32] = &[
    92, 93, 94, 102, 103, 107, 110, 112, 114, 116, 119, 121, 122, 123, 124, 125, 128, 129, 132,
    141, 142, 144, 145,
];

/// `CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH` and `…_TENSOR_MAP_ACCESS_SUPPORTED`: from Hopper on.
const SINCE_HOPPER: [u32; 2] = [120, 127];

/// The value of an attribute; `None` if there is no such attribute.
pub fn attribute(number: u32, settings: &Settings, config: &DeviceConfig) -> Option<i32> {
    let (major, minor) = settings.compute;
    let saturated = |n: u64| i32::try_from(n).unwrap_or(i32::MAX);
    Some(match number {
        8 => 48 << 10,
        16 => saturated(config.n_multiprocessors.into()),
        39 => saturated(config.multiprocessor_threads.into()),
        75 => major as i32,
        76 => minor as i32,
        81 => saturated(config.multiprocessor_shared_bytes.into()),
        97 => saturated(config.shared_limit.into()),
        106 => saturated(config.multiprocessor_blocks.into()),
        _ if SINCE_HOPPER.contains(&number) => (major >= 9).into(),
        _ if NOT_SIMULATED.contains(&number) => 0,
        _ => {
            let found = H200.binary_search_by_key(&number, |&(n, _)| n);
            H200[found.ok()?].1
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_in_order() {
        assert!(H200.is_sorted_by(|a, b| a.0 < b.0));
        let ask = |n| attribute(n, &Settings::default(), &DeviceConfig::default());
        assert_eq!((ask(1), ask(10), ask(75)), (Some(1024), Some(32), Some(9)));
        assert_eq!(ask(0), None);
        let older = Settings {
            compute: (8, 0),
            ..Settings::default()
        };
        for number in SINCE_HOPPER {
            assert_eq!(ask(number), Some(1));
            assert_eq!(attribute(number, &older, &DeviceConfig::default()), Some(0));
        }
    }
}
