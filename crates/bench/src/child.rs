//! This program once more, where its peers find a device.

use std::{env, ffi::OsString, path::PathBuf, process::Command};

use crate::row::Row;

/// Selection of benches to run.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    /// A part of the names of the benches; all if there is none.
    pub(crate) only: Option<String>,
    /// `true` if requests to the null kernel take about as long as those to a real one.
    pub(crate) has_costs: bool,
}

impl Wanted {
    /// Returns `true` if this one.
    pub(crate) fn has(&self, bench: &str) -> bool {
        self.only.as_ref().is_none_or(|part| bench.contains(part))
    }
}

/// Path of the device node for drivers: the child's is the preload library's.
pub(crate) const NODE: &str = "/dev/dri/renderD128";
const SHIM: &str = "libamdgpu_sim_shim.so";

/// The rows that this program prints when it is run once more.
///
/// # Errors
///
/// The reason why there are none.
pub(crate) fn rows(arguments: &[&str], wanted: &Wanted, environment: &[(&str, OsString)]) -> Result<Vec<Row>, String> {
    let mut command = Command::new(env::current_exe().map_err(|error| error.to_string())?);
    command.args(arguments);
    rows_of(command, wanted, environment)
}

/// The same of another build of this program.
///
/// # Errors
///
/// The reason why there are none.
pub(crate) fn rows_of(
    mut command: Command,
    wanted: &Wanted,
    environment: &[(&str, OsString)],
) -> Result<Vec<Row>, String> {
    command.arg("--json");
    if let Some(only) = &wanted.only {
        command.args(["--only", only]);
    }
    for (name, value) in environment {
        command.env(name, value);
    }
    let output = command.output().map_err(|error| error.to_string())?;
    serde_json::from_slice(&output.stdout).map_err(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        format!("the child ended with {}: {error}: {}", output.status, said.lines().last().unwrap_or_default())
    })
}

/// The rows that an area measures on the null kernel.
pub(crate) fn on_the_null_kernel(area: &str, wanted: &Wanted, add: &mut impl FnMut(Row)) {
    on_the_null_kernel_with(area, wanted, &[], add);
}

/// The same with more in the environment.
pub(crate) fn on_the_null_kernel_with(
    area: &str,
    wanted: &Wanted,
    more: &[(&str, OsString)],
    add: &mut impl FnMut(Row),
) {
    let measured = built(SHIM).ok_or_else(|| format!("no {SHIM} beside this program")).and_then(|shim| {
        let environment = [
            ("LD_PRELOAD", shim.into_os_string()),
            ("AMDGPU_SIM_NULL", "navi21".into()),
            ("AMDGPU_SIM_WORLD", OsString::new()),
            ("MESA_SHADER_CACHE_DISABLE", "true".into()),
        ];
        let costs = [("AMDGPU_SIM_NULL_COSTS", OsString::from(if wanted.has_costs { "1" } else { "" }))];
        rows(&[area, "--on-null"], wanted, &[&environment[..], &costs, more].concat())
    });
    match measured {
        Ok(rows) => rows.into_iter().for_each(add),
        Err(why) => add(Row::missing(area, "the null kernel", why)),
    }
}

/// A shared object of the workspace: where cargo puts it for those who depend on it, or beside the program.
pub(crate) fn built(name: &str) -> Option<PathBuf> {
    let beside = env::current_exe().ok()?.parent()?.to_owned();
    [beside.join("deps").join(name), beside.join(name)].into_iter().find(|path| path.exists())
}
