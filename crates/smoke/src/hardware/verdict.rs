//! The effect of hardware events on the result of a check.

use super::{
    rules::event,
    state::{HardwareEvent, HardwareRule},
    watch::Seen,
};
use crate::result::{check_result::CheckResult, evidence::Evidence, status::Status};

/// Adds the observations of the watch to a result, and changes its status by the rules of [`HardwareRule`]: a fatal event fails the
/// check; any other event is a warning, or a failure if `strict`.
pub(crate) fn apply(result: &mut CheckResult, seen: Seen, strict: bool) {
    let Seen { hardware, messages, resets } = seen;
    result.hardware = hardware.or(result.hardware.take());
    let errors = messages.iter().filter(|message| message.is_error);
    let errors: Vec<_> =
        errors.map(|error| event(HardwareRule::KernelError, "/dev/kmsg", String::new(), error.text.clone())).collect();
    if !errors.is_empty() {
        result.hardware.get_or_insert_default().events.extend(errors);
    }
    if !messages.is_empty() {
        if result.status == Status::Pass {
            result.status = Status::DmesgWarn;
        }
        let evidence: &mut Evidence = result.evidence.get_or_insert_default();
        evidence.messages = messages.into_iter().map(|message| message.text).collect();
    }
    // A check that resets the GPU on purpose expects the event.
    if !resets.is_empty() && !matches!(result.status, Status::Pass | Status::Skip) {
        result.evidence.get_or_insert_default().resets = resets.iter().map(ToString::to_string).collect();
    }
    let Some(hardware) = &result.hardware else { return };
    let Some(status) = changed(result.status, &hardware.events, strict) else { return };
    let (first, more) = match &*hardware.events {
        [first, more @ ..] => (first, more.len()),
        [] => return,
    };
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    result.detail = format!("{}; {first}{more}", result.detail);
    result.status = status;
}

/// Returns the new status after the events; `None` if they do not change it.
fn changed(status: Status, events: &[HardwareEvent], strict: bool) -> Option<Status> {
    let has_run = status != Status::Skip;
    match status {
        _ if events.is_empty() || status.is_bad() => None,
        _ if events.iter().any(|event| event.rule.is_fatal()) || strict && has_run => Some(Status::Fail),
        Status::Pass => Some(Status::Warn),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use amdgpu_winsys::uapi::WedgedEvent;

    use super::*;
    use crate::hardware::{kernel_log::Message, state::Hardware};

    const ALL: [HardwareRule; 13] = [
        HardwareRule::RasUncorrectable,
        HardwareRule::RasDeferred,
        HardwareRule::RasCorrectable,
        HardwareRule::AerFatal,
        HardwareRule::AerNonfatal,
        HardwareRule::AerCorrectable,
        HardwareRule::LinkWidth,
        HardwareRule::LinkSpeed,
        HardwareRule::LinkNarrow,
        HardwareRule::LinkSlow,
        HardwareRule::Temperature,
        HardwareRule::KernelError,
        HardwareRule::NoAnswer,
    ];

    fn judged(status: Status, rules: &[HardwareRule], messages: &[Message], strict: bool) -> CheckResult {
        let mut result = CheckResult::new("a.b", status, "detail", Duration::ZERO);
        let event = |rule: &HardwareRule| event(*rule, "counter", "0".to_owned(), "1".to_owned());
        let hardware = Some(Hardware { events: rules.iter().map(event).collect(), ..Hardware::default() });
        apply(&mut result, Seen { hardware, messages: messages.to_vec(), resets: Vec::new() }, strict);
        result
    }

    fn judged_status(status: Status, rules: &[HardwareRule], strict: bool) -> Status {
        judged(status, rules, &[], strict).status
    }

    #[test]
    fn uncorrectable_errors_fail_and_others_warn_unless_strict() {
        for rule in ALL {
            let is_fatal = matches!(rule, HardwareRule::RasUncorrectable | HardwareRule::AerFatal);
            let expected = if is_fatal { Status::Fail } else { Status::Warn };
            assert_eq!(judged_status(Status::Pass, &[rule], false), expected, "{rule:?}");
            assert_eq!(judged_status(Status::Pass, &[rule], true), Status::Fail, "{rule:?}");
            assert_eq!(judged_status(Status::Skip, &[rule], false) == Status::Fail, is_fatal, "{rule:?}");
        }
        assert_eq!(judged_status(Status::Pass, &[], true), Status::Pass);
        assert_eq!(judged_status(Status::Skip, &[HardwareRule::AerCorrectable], true), Status::Skip);
        assert_eq!(judged_status(Status::Timeout, &[HardwareRule::AerFatal], true), Status::Timeout);
    }

    #[test]
    fn the_detail_names_the_event_that_changed_the_status() {
        let rules = [HardwareRule::RasUncorrectable, HardwareRule::RasCorrectable];
        let failed = judged(Status::Pass, &rules, &[], false);
        assert_eq!(failed.detail, "detail; new uncorrectable RAS error: counter 0, then 1 and 1 more");
        assert_eq!(failed.hardware.unwrap().events.len(), 2);
        assert_eq!(judged(Status::Fail, &rules, &[], false).detail, "detail");
    }

    #[test]
    fn the_event_of_a_reset_is_evidence_of_a_failure_and_names_the_culprit() {
        let event = |result: &mut CheckResult| {
            let path = "/devices/pci0000:00/0000:03:00.0/drm/card0".to_owned();
            let process = Some((4711, "game".to_owned()));
            let resets = vec![WedgedEvent { path, methods: "none".to_owned(), process }];
            apply(result, Seen { resets, ..Seen::default() }, false);
            result.evidence.take().map(|evidence| evidence.lines())
        };
        for (status, is_evidence) in [(Status::Fail, true), (Status::Timeout, true), (Status::Pass, false)] {
            let mut result = CheckResult::new("a.b", status, "detail", Duration::ZERO);
            let line =
                "event of the kernel: the GPU was reset and works again; the job was of process 4711 (game)".to_owned();
            assert_eq!(event(&mut result), is_evidence.then(|| vec![line]), "{status:?}");
            assert_eq!(result.status, status);
        }
    }

    #[test]
    fn the_kernels_complaints_spoil_a_pass_and_are_kept() {
        let message = |is_error| [Message { is_error, text: "amdgpu: ring gfx timeout".to_owned() }];
        let warned = judged(Status::Pass, &[], &message(false), true);
        assert_eq!((warned.status, warned.evidence.unwrap().messages.len()), (Status::DmesgWarn, 1));
        let failed = judged(Status::Fail, &[], &message(true), false);
        assert_eq!((failed.status, failed.evidence.unwrap().messages.len()), (Status::Fail, 1));
        let complained = judged(Status::Pass, &[], &message(true), false);
        assert_eq!(complained.status, Status::DmesgWarn);
        assert_eq!(
            complained.hardware.unwrap().events[0].to_string(),
            "kernel error: /dev/kmsg amdgpu: ring gfx timeout"
        );
        assert_eq!(judged(Status::Pass, &[], &message(true), true).status, Status::Fail);
        assert_eq!(judged(Status::Pass, &[], &[], false).evidence, None);
    }
}
