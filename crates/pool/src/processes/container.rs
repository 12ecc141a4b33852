//! Containers and pods, by the names that their managers give to cgroups.

/// Digits of a container's id that are shown, as in the lists of its manager.
const SHOWN: usize = 12;

/// Digits of a whole id.
const WHOLE: usize = 64;

/// Starts of the names of containers' cgroups, with the manager.
const MANAGERS: [(&str, &str); 5] = [
    ("docker-", "docker"),
    ("libpod-", "podman"),
    ("cri-containerd-", "containerd"),
    ("crio-", "cri-o"),
    ("nerdctl-", "nerdctl"),
];

/// Returns the container of a process by its path in cgroup v2: `docker:3f2a1b0c9d8e`, or with a pod of Kubernetes
/// `pod:UID/containerd:3f2a1b0c9d8e`; nothing for a process on the host.
///
/// Source: the cgroup drivers `systemd` and `cgroupfs` of runc; Kubernetes' `pkg/kubelet/cm`; LXC's `lxc.payload.NAME`;
/// `systemd-nspawn(1)`.
pub(super) fn container(cgroup: &str) -> Option<String> {
    let parts: Vec<&str> = cgroup.split('/').filter(|part| !part.is_empty()).collect();
    let pod = parts.iter().find_map(|part| pod(part));
    let inner =
        parts.iter().zip(std::iter::once("").chain(parts.iter().copied())).find_map(|(part, above)| one(part, above));
    match (pod, inner) {
        (Some(pod), Some(inner)) => Some(format!("pod:{pod}/{inner}")),
        (Some(pod), None) => Some(format!("pod:{pod}")),
        (None, inner) => inner,
    }
}

/// The id of a pod: `kubepods-burstable-podUID.slice` with underscores, or `podUID`.
fn pod(part: &str) -> Option<String> {
    let name = part.strip_suffix(".slice").unwrap_or(part);
    let id = match name.rsplit_once("-pod") {
        Some((kind, id)) if kind.starts_with("kubepods") => id,
        _ => name.strip_prefix("pod")?,
    };
    let id = id.replace('_', "-");
    let is_id = id.len() >= 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_id.then_some(id)
}

/// The container that a part of the path names, where `above` is the part before it.
fn one(part: &str, above: &str) -> Option<String> {
    let name = part.strip_suffix(".scope").unwrap_or(part);
    if let Some((manager, id)) = MANAGERS.iter().find_map(|(start, manager)| Some((manager, name.strip_prefix(start)?)))
    {
        return Some(format!("{manager}:{}", shown(id)?));
    }
    if let Some(id) = shown(name) {
        return Some(if above == "docker" { format!("docker:{id}") } else { format!("container:{id}") });
    }
    let lxc = name.strip_prefix("lxc.payload.").or_else(|| (above == "lxc").then_some(name));
    let nspawn = || part.strip_prefix("systemd-nspawn@")?.strip_suffix(".service");
    match lxc {
        Some(name) if !name.is_empty() => Some(format!("lxc:{name}")),
        _ => nspawn().map(|name| format!("nspawn:{name}")),
    }
}

/// The start of a whole id.
fn shown(id: &str) -> Option<&str> {
    (id.len() == WHOLE && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| id.get(..SHOWN)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_and_pods_are_known_by_their_cgroups() {
        let id = "3f2a1b0c9d8e".to_owned() + &"7".repeat(52);
        let pod = "0a1b2c3d-1111-2222-3333-444455556666";
        for (path, expected) in [
            (format!("/system.slice/docker-{id}.scope"), "docker:3f2a1b0c9d8e".to_owned()),
            (format!("/docker/{id}"), "docker:3f2a1b0c9d8e".to_owned()),
            (
                format!("/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-{id}.scope/container"),
                "podman:3f2a1b0c9d8e".to_owned(),
            ),
            (
                format!(
                    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{}.slice/cri-containerd-{id}.scope",
                    pod.replace('-', "_")
                ),
                format!("pod:{pod}/containerd:3f2a1b0c9d8e"),
            ),
            (format!("/kubepods/besteffort/pod{pod}/{id}"), format!("pod:{pod}/container:3f2a1b0c9d8e")),
            (format!("/kubepods/pod{pod}"), format!("pod:{pod}")),
            (format!("/kubepods.slice/crio-{id}.scope"), "cri-o:3f2a1b0c9d8e".to_owned()),
            ("/lxc.payload.games/init.scope".to_owned(), "lxc:games".to_owned()),
            ("/lxc/games".to_owned(), "lxc:games".to_owned()),
            ("/machine.slice/systemd-nspawn@lab.service/payload".to_owned(), "nspawn:lab".to_owned()),
        ] {
            assert_eq!(container(&path), Some(expected), "{path}");
        }
    }

    #[test]
    fn a_process_on_the_host_has_no_container() {
        for path in [
            "",
            "/",
            "/user.slice/user-1000.slice/user@1000.service/app.slice/app-game.scope",
            "/system.slice/docker.service",
            "/system.slice/docker-short.scope",
            "/podium",
            "/lxc",
            "/system.slice/podcast.service",
        ] {
            assert_eq!(container(path), None, "{path}");
        }
    }
}
