//! Jobs and their SPIR-V in a folder.

use std::{fs, io, path::Path};

use amdgpu_test_support::jobs::Job;
use ash::util::read_spv;

/// A job with its shader.
pub(super) struct Task {
    pub(super) job: Job,
    /// The shader's SPIR-V, or the reason why there is none.
    pub(super) spirv: Result<Vec<u32>, String>,
}

/// Reads each `NAME.json`, and the lines of `jobs.jsonl` if the folder has it, with `NAME.spv`; in the order of their names.
///
/// # Errors
///
/// Of reading the folder, and `InvalidData` if it has no job or one that is not a job.
pub(super) fn read(directory: &Path) -> io::Result<Vec<Task>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name == "jobs.jsonl") {
            texts.extend(fs::read_to_string(path)?.lines().map(str::to_owned));
        } else if path.extension().is_some_and(|extension| extension == "json") {
            texts.push(fs::read_to_string(path)?);
        }
    }
    if texts.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no jobs in this folder"));
    }
    let jobs: Result<Vec<_>, _> = texts.iter().map(|text| Job::parse(text)).collect();
    let mut jobs = jobs.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    jobs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(jobs.into_iter().map(|job| Task { spirv: spirv(directory, &job.name), job }).collect())
}

fn spirv(directory: &Path, name: &str) -> Result<Vec<u32>, String> {
    let path = directory.join(format!("{name}.spv"));
    let words = fs::File::open(&path).and_then(|mut file| read_spv(&mut file));
    words.map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::read;

    const JOB: &str = r#"{"name": "NAME", "groups": [1, 1, 1]}"#;

    #[test]
    fn jobs_come_from_files_and_lines_with_their_shaders() {
        let folder = std::env::temp_dir().join(format!("amdgpu-vulkan-client-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        assert!(read(&folder).is_err(), "an empty folder");
        std::fs::write(folder.join("b.json"), JOB.replace("NAME", "b")).unwrap();
        let lines = format!("{}\n{}\n", JOB.replace("NAME", "c"), JOB.replace("NAME", "a"));
        std::fs::write(folder.join("jobs.jsonl"), lines).unwrap();
        std::fs::write(folder.join("a.spv"), 0x0723_0203_u32.to_le_bytes()).unwrap();
        let tasks = read(&folder).unwrap();
        let names: Vec<_> = tasks.iter().map(|task| (task.job.name.as_str(), task.spirv.is_ok())).collect();
        assert_eq!(names, [("a", true), ("b", false), ("c", false)]);
        std::fs::write(folder.join("b.json"), "{}").unwrap();
        assert!(read(&folder).is_err(), "a file that is no job");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
