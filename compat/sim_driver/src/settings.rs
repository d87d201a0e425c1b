//! Settings of the simulated machine and its checks. They come from the environment, since the
//! programs do not know of them.

use std::path::PathBuf;

use ptx_sim::Schedule;

/// The maximum number of devices: as many as have addresses of their own.
const MOST_DEVICES: u32 = 8;

/// The simulated machine, and what to look for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Number of devices; `LOCKSTEP_SIM_DEVICES`.
    pub n_devices: u32,
    /// Their name; `LOCKSTEP_SIM_NAME`.
    pub name: String,
    /// Their compute capability; `LOCKSTEP_SIM_COMPUTE`, such as `9.0`.
    pub compute: (u32, u32),
    /// Bytes of memory of each; `LOCKSTEP_SIM_MEMORY`, such as `16G`.
    pub memory_bytes: u64,
    /// Whether launches are checked for what a GPU would let pass; `LOCKSTEP_SIM_CHECK`.
    pub check: bool,
    /// Whether memory accesses are counted; `LOCKSTEP_SIM_COUNTERS`.
    pub count: bool,
    /// Whether the first finding ends the process; `LOCKSTEP_SIM_STOP`.
    pub stop: bool,
    /// Warp instructions that a launch may execute; `LOCKSTEP_SIM_FUEL`.
    pub fuel: Option<u64>,
    /// Number of other orders in which launches are tried; `LOCKSTEP_SIM_SCHEDULES`.
    pub schedules: u64,
    /// Number of launches of each kernel that are tried this way, each the first of its shape; all
    /// launches if `None`. `LOCKSTEP_SIM_SCHEDULE_LAUNCHES`, a number or `all`.
    pub schedule_launches: Option<usize>,
    /// The order in which all launches run, if not the usual one; `LOCKSTEP_SIM_SCHEDULE`,
    /// such as `3/warps/12`.
    pub schedule: Option<Schedule>,
    /// Where a report is written when the process ends; `LOCKSTEP_SIM_REPORT`.
    pub report: Option<PathBuf>,
    /// Where findings are reported as they come, `-` for standard error; `LOCKSTEP_SIM_LOG`.
    pub log: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            n_devices: 1,
            name: "Lockstep simulated GPU".to_owned(),
            compute: (9, 0),
            memory_bytes: 64 << 30,
            check: false,
            count: false,
            stop: false,
            fuel: None,
            schedules: 0,
            schedule_launches: Some(8),
            schedule: None,
            report: None,
            log: None,
        }
    }
}

impl Settings {
    /// The settings in the process's environment.
    ///
    /// # Errors
    /// What is wrong with a variable, and what it may be.
    pub fn from_environment() -> Result<Self, String> {
        Self::from_lookup(|name| std::env::var(name).ok())
    }

    fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let lookup = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let mut settings = Self::default();
        if let Some(value) = lookup("LOCKSTEP_SIM_DEVICES") {
            let number = value.parse().ok().filter(|&n| n <= MOST_DEVICES);
            settings.n_devices = number
                .ok_or_else(|| wrong("LOCKSTEP_SIM_DEVICES", &value, "a number from 0 to 8"))?;
        }
        if let Some(value) = lookup("LOCKSTEP_SIM_NAME") {
            settings.name = value;
        }
        if let Some(value) = lookup("LOCKSTEP_SIM_COMPUTE") {
            settings.compute = compute(&value)
                .ok_or_else(|| wrong("LOCKSTEP_SIM_COMPUTE", &value, "such as 8.0 or 9.0"))?;
        }
        if let Some(value) = lookup("LOCKSTEP_SIM_MEMORY") {
            settings.memory_bytes = bytes(&value).ok_or_else(|| {
                wrong("LOCKSTEP_SIM_MEMORY", &value, "bytes, such as 512M or 16G")
            })?;
        }
        if let Some(value) = lookup("LOCKSTEP_SIM_FUEL") {
            let number = value.parse().ok().filter(|&n| n > 0);
            settings.fuel = Some(number.ok_or_else(|| {
                let may_be = "a number of warp instructions, 1 or more";
                wrong("LOCKSTEP_SIM_FUEL", &value, may_be)
            })?);
        }
        for (name, flag) in [
            ("LOCKSTEP_SIM_CHECK", &mut settings.check),
            ("LOCKSTEP_SIM_COUNTERS", &mut settings.count),
            ("LOCKSTEP_SIM_STOP", &mut settings.stop),
        ] {
            *flag = match lookup(name).as_deref() {
                None | Some("0") => false,
                Some("1") => true,
                Some(value) => return Err(wrong(name, value, "0 or 1")),
            };
        }
        settings.read_orders(&lookup)?;
        settings.report = lookup("LOCKSTEP_SIM_REPORT").map(PathBuf::from);
        settings.log = lookup("LOCKSTEP_SIM_LOG").map(PathBuf::from);
        Ok(settings)
    }
}

impl Settings {
    /// Reads the orders in which launches run.
    fn read_orders(&mut self, lookup: &impl Fn(&str) -> Option<String>) -> Result<(), String> {
        if let Some(value) = lookup("LOCKSTEP_SIM_SCHEDULES") {
            let number = value.parse().ok();
            self.schedules = number
                .ok_or_else(|| wrong("LOCKSTEP_SIM_SCHEDULES", &value, "a number of orders"))?;
        }
        const LAUNCHES: &str = "LOCKSTEP_SIM_SCHEDULE_LAUNCHES";
        if let Some(value) = lookup(LAUNCHES) {
            self.schedule_launches = match value.as_str() {
                "all" => None,
                number => {
                    let number = number.parse().ok();
                    let expected = "a number of launches of each kernel, or `all`";
                    Some(number.ok_or_else(|| wrong(LAUNCHES, &value, expected))?)
                }
            };
        }
        if let Some(value) = lookup("LOCKSTEP_SIM_SCHEDULE") {
            let schedule = value.parse();
            let schedule = schedule.map_err(|why| format!("LOCKSTEP_SIM_SCHEDULE: {why}"))?;
            if self.schedules > 0 {
                let why = "unset if LOCKSTEP_SIM_SCHEDULES is set";
                return Err(wrong("LOCKSTEP_SIM_SCHEDULE", &value, why));
            }
            self.schedule = Some(schedule);
        }
        Ok(())
    }
}

fn wrong(name: &str, value: &str, expected: &str) -> String {
    format!("{name} is `{value}`: it must be {expected}")
}

/// `9.0` or `90`.
fn compute(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = match text.split_once('.') {
        Some(parts) => parts,
        None => text.split_at_checked(text.len().checked_sub(1)?)?,
    };
    let (major, minor) = (major.parse().ok()?, minor.parse().ok()?);
    ((5..100).contains(&major) && minor < 10).then_some((major, minor))
}

/// A number of bytes, with `K`, `M`, `G` or `T` for powers of 1024.
fn bytes(text: &str) -> Option<u64> {
    let unit = text.chars().last()?.to_ascii_uppercase();
    let shift = match unit {
        'K' => 10,
        'M' => 20,
        'G' => 30,
        'T' => 40,
        _ => 0,
    };
    let digits = if shift > 0 {
        &text[..text.len() - 1]
    } else {
        text
    };
    let number: u64 = digits.parse().ok()?;
    number.checked_mul(1 << shift).filter(|&n| n > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, value: &str) -> Result<Settings, String> {
        Settings::from_lookup(|asked| (asked == name).then(|| value.to_owned()))
    }

    #[test]
    fn variables_are_read_and_wrong_ones_named() {
        let memory = with("LOCKSTEP_SIM_MEMORY", "16G").map(|s| s.memory_bytes);
        assert_eq!(memory, Ok(16 << 30));
        let compute = |value| with("LOCKSTEP_SIM_COMPUTE", value).map(|s| s.compute);
        assert_eq!((compute("8.6"), compute("120")), (Ok((8, 6)), Ok((12, 0))));
        assert!(with("LOCKSTEP_SIM_CHECK", "1").is_ok_and(|s| s.check));
        for (name, value) in [
            ("LOCKSTEP_SIM_DEVICES", "9"),
            ("LOCKSTEP_SIM_COMPUTE", "x"),
            ("LOCKSTEP_SIM_COMPUTE", "é"),
            ("LOCKSTEP_SIM_MEMORY", "0"),
            ("LOCKSTEP_SIM_MEMORY", "99999999999T"),
            ("LOCKSTEP_SIM_CHECK", "yes"),
            ("LOCKSTEP_SIM_FUEL", "-1"),
            ("LOCKSTEP_SIM_FUEL", "0"),
            ("LOCKSTEP_SIM_SCHEDULES", "many"),
            ("LOCKSTEP_SIM_SCHEDULE_LAUNCHES", "none"),
        ] {
            let error = with(name, value).expect_err(value);
            assert!(error.starts_with(&format!("{name} is `{value}`: it must be ")));
        }
    }

    #[test]
    fn orders_are_read() {
        let launches = |value| with("LOCKSTEP_SIM_SCHEDULE_LAUNCHES", value);
        let launches = |value| launches(value).map(|s| s.schedule_launches);
        assert_eq!((launches("3"), launches("all")), (Ok(Some(3)), Ok(None)));
        let schedule = with("LOCKSTEP_SIM_SCHEDULE", "3/warps/12").map(|s| s.schedule);
        assert_eq!(schedule, Ok("3/warps/12".parse().ok()));
        let error = with("LOCKSTEP_SIM_SCHEDULE", "x").expect_err("no seed");
        assert!(
            error.starts_with("LOCKSTEP_SIM_SCHEDULE: no seed in"),
            "{error}"
        );
        // One order or many, not both.
        let both = Settings::from_lookup(|name| match name {
            "LOCKSTEP_SIM_SCHEDULE" | "LOCKSTEP_SIM_SCHEDULES" => Some("3".to_owned()),
            _ => None,
        });
        assert!(both.is_err_and(|error| error.contains("must be unset")));
    }
}
