//! Settings that are kept between runs.

use std::{env, fs, path::PathBuf};

use amdgpu_output::files;
use serde::{Deserialize, Serialize};

use super::state::State;

/// Saved settings; what a file lacks keeps its default.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Settings {
    interval: Option<f64>,
    window: Option<f64>,
    tree: Option<bool>,
    clients: Option<bool>,
}

fn path() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let configuration = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(configuration.join("amdgpu-budget/top.json"))
}

/// Takes the settings of the file, if there is one that makes sense.
pub(super) fn load(state: &mut State) {
    let text = path().and_then(|path| fs::read(path).ok()).unwrap_or_default();
    let settings: Settings = serde_json::from_slice(&text).unwrap_or_default();
    if let Some(interval) = settings.interval.filter(|value| (0.125..=64.0).contains(value)) {
        state.interval = interval;
    }
    if let Some(window) = settings.window.filter(|value| (15.0..=3840.0).contains(value)) {
        state.window = window;
    }
    state.options.tree = settings.tree.unwrap_or(state.options.tree);
    state.options.clients = settings.clients.unwrap_or(state.options.clients);
}

/// Writes the settings, and returns a message for the user.
pub(super) fn save(state: &State) -> String {
    let Some(path) = path() else { return "neither XDG_CONFIG_HOME nor HOME is set".to_owned() };
    let settings = Settings {
        interval: Some(state.interval),
        window: Some(state.window),
        tree: Some(state.options.tree),
        clients: Some(state.options.clients),
    };
    let text = serde_json::to_vec_pretty(&settings).unwrap_or_default();
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    match made.and_then(|()| files::write(&path, text)) {
        Ok(()) => format!("saved {}", path.display()),
        Err(error) => format!("{}: {error}", path.display()),
    }
}
