//! The Python module: `amdgpu_pool._native` has one function, which returns what was found as plain dictionaries and lists. The
//! package around it, in Python, has the types.

use std::path::PathBuf;

use amdgpu_pool::{Gpu, LookError, Options, Root, Verdict, look, model::Pair};
use pyo3::{
    exceptions::{PyLookupError, PyPermissionError},
    prelude::*,
    types::{PyDict, PyList},
};

/// The findings of one moment.
#[pyclass(frozen, module = "amdgpu_pool._native")]
struct Report {
    report: amdgpu_pool::Report,
}

/// Looks at this computer, or at the one whose /sys, /proc and /dev are below `root`.
#[pyfunction]
#[pyo3(signature = (root=None, wake=false, processes=true))]
fn look_at(py: Python<'_>, root: Option<PathBuf>, wake: bool, processes: bool) -> PyResult<Report> {
    let machine = root.map_or_else(Root::live, |root| Root::at(&root));
    let options = Options { wake, processes, ..Options::default() };
    let report = py.detach(|| look(&machine, &options)).map_err(|error| match error {
        LookError::NoGpu(_) => PyLookupError::new_err(error.to_string()),
        LookError::NotReadable(_) => PyPermissionError::new_err(error.to_string()),
    })?;
    Ok(Report { report })
}

#[pymethods]
impl Report {
    /// The GPUs as dictionaries.
    fn gpus<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for gpu in &self.report.gpus {
            list.append(dictionary(py, gpu)?)?;
        }
        Ok(list)
    }

    /// Render nodes of other drivers: node, driver and PCI address.
    fn others(&self) -> Vec<(String, Option<String>, Option<String>)> {
        let other = |one: &amdgpu_pool::Other| (one.node.clone(), one.driver.clone(), one.pci.clone());
        self.report.others.iter().map(other).collect()
    }

    /// Returns the answer to whether bytes fit: verdict, parts, whether in one piece, lacking bytes, reason.
    fn fits(&self, gpu: usize, bytes: u64) -> Option<(&'static str, Vec<(String, u64)>, bool, u64, String)> {
        let fit = self.report.gpus.get(gpu)?.fits(bytes);
        let verdict = match fit.verdict {
            Verdict::Fits => "fits",
            Verdict::Spills => "spills",
            Verdict::TooMuch => "too much",
            Verdict::Unknown => "unknown",
        };
        let parts = fit.parts.iter().map(|part| (part.place.to_string(), part.bytes)).collect();
        Some((verdict, parts, fit.in_one_piece, fit.lacking, fit.reason))
    }
}

fn dictionary<'py>(py: Python<'py>, gpu: &Gpu) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let kind = gpu.apu.map(|apu| if apu { "apu" } else { "card" });
    found.set_item("index", gpu.index)?;
    found.set_item("pci", &gpu.pci)?;
    found.set_item("render", &gpu.render)?;
    found.set_item("device_id", gpu.device_id)?;
    found.set_item("kind", kind)?;
    found.set_item("power", &gpu.power)?;
    found.set_item("is_asleep", gpu.is_asleep)?;
    for (name, domain) in
        [("vram", &gpu.domains.vram), ("visible_vram", &gpu.domains.visible_vram), ("gtt", &gpu.domains.gtt)]
    {
        let sizes = PyDict::new(py);
        sizes.set_item("total", domain.total)?;
        sizes.set_item("usable", domain.usable)?;
        sizes.set_item("used", domain.used)?;
        sizes.set_item("evicted", domain.evicted)?;
        found.set_item(name, sizes)?;
    }
    found.set_item("total", gpu.effective.total)?;
    found.set_item("available", gpu.effective.available)?;
    found.set_item("limited_by", &gpu.effective.limited_by)?;
    found.set_item("largest_now", gpu.largest.now)?;
    found.set_item("largest_accepted", gpu.largest.accepted)?;
    found.set_item("largest_recommended", gpu.largest.recommended)?;
    let own = gpu.own.map(|own| (own.visible_vram.saturating_add(own.invisible_vram), own.gtt));
    found.set_item("own", own)?;
    let pair = |pair: Pair| (pair.vram, pair.gtt);
    found.set_item("others", pair(gpu.others))?;
    found.set_item("shared", pair(gpu.unattributed.unwrap_or_default().shared))?;
    let heaps = gpu.heaps.iter().flatten().map(|heap| {
        let is_local = heap.flags.iter().any(|flag| flag == "DEVICE_LOCAL");
        (heap.kind.clone(), is_local, heap.size, heap.budget, heap.usage, heap.shares_with.clone())
    });
    found.set_item("heaps", gpu.heaps.is_some().then(|| heaps.collect::<Vec<_>>()))?;
    let limits = gpu.limits.iter();
    let limits = limits.map(|one| (one.name, one.bytes, one.state.to_string(), one.source.clone(), one.why.clone()));
    found.set_item("limits", limits.collect::<Vec<_>>())?;
    let missing = gpu.missing.iter().map(|one| (one.source.clone(), one.reason.clone()));
    found.set_item("missing", missing.collect::<Vec<_>>())?;
    Ok(found)
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Report>()?;
    module.add_function(wrap_pyfunction!(look_at, module)?)
}
