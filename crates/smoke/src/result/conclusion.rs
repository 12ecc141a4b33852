//! The conclusion of a run: what its failures have in common, and what to do next.
//!
//! A conclusion names only what the results show. "Only the copy engines fail" needs checks of other engines that passed.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::{
    hardware::state::HardwareRule,
    result::{
        check_result::CheckResult,
        status::{Expected, Status},
    },
};

/// The conclusion of a run with failures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Conclusion {
    /// The findings, the weightiest first.
    pub verdicts: Vec<Verdict>,
    /// The failures, those with the same reason together, the largest group first.
    pub groups: Vec<Group>,
    /// The next steps, in order.
    pub next: Vec<String>,
}

/// A finding about a part of the GPU or of the computer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The part: `memory-error`, `bits`, `link`, `hang`, `engine`, `ring`, `kernel`, `program` or `unknown`.
    pub about: &'static str,
    /// A sentence.
    pub text: String,
}

/// Failures with one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// The reason, in the words of the first of them.
    pub reason: String,
    /// The IDs of the checks.
    pub checks: Vec<String>,
}

/// The kinds of rings, with the words for them.
const ENGINES: [(&str, &str); 3] = [("gfx", "graphics"), ("compute", "compute"), ("sdma", "copy engines")];

impl Conclusion {
    /// Returns the conclusion of a run's results; `None` if nothing failed.
    pub fn of(results: &[CheckResult]) -> Option<Self> {
        let failed: Vec<&CheckResult> = results
            .iter()
            .filter(|result| result.is_failure() && result.expected != Some(Expected::UnexpectedPass))
            .collect();
        if failed.is_empty() {
            return None;
        }
        let mut conclusion = Self { groups: groups(&failed), ..Self::default() };
        conclusion.hardware(&failed);
        conclusion.hangs(&failed);
        conclusion.engines(results, &failed);
        conclusion.bits(&failed);
        conclusion.refusals(&failed);
        if conclusion.verdicts.is_empty() {
            conclusion.say("unknown", "the failures have no engine, error of the hardware or bit in common".to_owned());
            conclusion.then("run the failed checks alone and again: --filter, --repeat 10");
        }
        conclusion.then("attach --bundle FILE.tar to the bug report");
        Some(conclusion)
    }

    fn say(&mut self, about: &'static str, text: String) {
        self.verdicts.push(Verdict { about, text });
    }

    fn then(&mut self, step: &str) {
        if !self.next.iter().any(|known| known == step) {
            self.next.push(step.to_owned());
        }
    }

    fn has(&self, about: &str) -> bool {
        self.verdicts.iter().any(|verdict| verdict.about == about)
    }

    /// Errors that the hardware itself counted outrank what checks saw.
    fn hardware(&mut self, failed: &[&CheckResult]) {
        let mut counted: BTreeMap<&str, (String, usize)> = BTreeMap::new();
        for result in failed {
            for event in result.hardware.iter().flat_map(|hardware| &hardware.events) {
                let about = match event.rule {
                    HardwareRule::RasUncorrectable | HardwareRule::RasDeferred => "memory-error",
                    HardwareRule::AerFatal
                    | HardwareRule::AerNonfatal
                    | HardwareRule::LinkWidth
                    | HardwareRule::LinkSpeed
                    | HardwareRule::LinkNarrow
                    | HardwareRule::LinkSlow => "link",
                    _ => continue,
                };
                counted.entry(about).or_insert_with(|| (event.to_string(), 0)).1 += 1;
            }
        }
        if let Some((event, count)) = counted.get("memory-error") {
            self.say(
                "memory-error",
                format!("the GPU counted memory errors that it cannot correct ({event}; {count} checks)"),
            );
            self.then(
                "cool the card down, take overclocking away, and test its memory: --level stress --filter memory",
            );
            self.then("a card that repeats this is defective: this page is for its vendor");
        }
        if let Some((event, count)) = counted.get("link") {
            self.say("link", format!("the PCI Express link has trouble ({event}; {count} checks)"));
            self.then("seat the card anew, without riser, in another slot, and compare");
        }
    }

    fn hangs(&mut self, failed: &[&CheckResult]) {
        let hung: Vec<&&CheckResult> = failed
            .iter()
            .filter(|result| result.evidence.as_ref().is_some_and(|evidence| !evidence.hang.is_empty()))
            .collect();
        let Some(first) = hung.first() else { return };
        let rings: BTreeSet<&str> = hung.iter().filter_map(|result| ring(&result.id)).collect();
        let rings = if rings.is_empty() { String::new() } else { format!(" on {}", joined(rings)) };
        self.say("hang", format!("work did not complete{rings}, first in {} ({} checks)", first.id, hung.len()));
        self.then("amdgpu-ib why explains the kernel log and the device core dump of a hang");
    }

    /// Names the kinds of engines, or the rings of a kind, of which all others pass.
    fn engines(&mut self, results: &[CheckResult], failed: &[&CheckResult]) {
        // What the hardware counted during a check is no fault of the engine.
        if self.has("memory-error") || self.has("link") {
            return;
        }
        let has_run = |result: &&CheckResult| result.status != Status::Skip;
        let on_ring = |result: &CheckResult, kind: &str| ring(&result.id).is_some_and(|ring| engine(ring) == kind);
        let counts: Vec<(usize, usize)> = ENGINES
            .iter()
            .map(|(kind, _)| {
                let ran = results.iter().filter(has_run).filter(|result| on_ring(result, kind)).count();
                (failed.iter().filter(|result| on_ring(result, kind)).count(), ran)
            })
            .collect();
        let others = failed.iter().filter(|result| ring(&result.id).is_none()).count();
        let mut bad = Vec::new();
        for ((_, words), (failed, ran)) in ENGINES.iter().zip(&counts).filter(|(_, (failed, _))| *failed > 0) {
            bad.push(format!("{words} ({failed} of {ran} checks)"));
        }
        let bad = bad.join(", ");
        let good: Vec<String> = ENGINES
            .iter()
            .zip(&counts)
            .filter(|(_, (bad, ran))| *bad == 0 && *ran > 0)
            .map(|((_, words), (_, ran))| format!("{words} ({ran} checks)"))
            .collect();
        if bad.is_empty() {
            return;
        }
        if !good.is_empty() {
            let elsewhere =
                if others > 0 { format!(", and {others} checks of no ring fail too") } else { String::new() };
            self.say("engine", format!("{bad} fail; {} pass{elsewhere}", good.join(" and ")));
            self.then("compare with another kernel and firmware: amdgpu-smoke diff tells what changed");
        }
        let ran: Vec<&(usize, usize)> = counts.iter().filter(|(_, ran)| *ran > 0).collect();
        if let [(bad_checks, ran)] = ran[..]
            && bad_checks == ran
            && others == 0
        {
            self.say("engine", format!("{bad} fail, and no check of another engine was run"));
            self.then("run the same level without a filter, to see whether other engines pass");
        }
        for (kind, words) in ENGINES {
            let bad = rings_of(failed.iter().copied(), kind);
            let all = rings_of(results.iter().filter(has_run), kind);
            let whole: BTreeSet<_> = all.difference(&bad).cloned().collect();
            if !bad.is_empty() && !whole.is_empty() {
                let (bad, whole) = (joined(bad.iter().map(String::as_str)), joined(whole.iter().map(String::as_str)));
                self.say("ring", format!("of the {words}, {bad} fail and {whole} pass"));
            }
        }
    }

    /// Looks for one bit that is wrong in all differences.
    fn bits(&mut self, failed: &[&CheckResult]) {
        let mut wrong = Vec::new();
        let mut checks = 0;
        for difference in failed.iter().filter_map(|result| result.evidence.as_ref()?.difference.as_ref()) {
            let (found, expected) = (bytes(&difference.found), bytes(&difference.expected));
            let differing = found.iter().zip(&expected).enumerate().filter(|(_, (found, expected))| found != expected);
            wrong.extend(differing.map(|(at, (found, expected))| {
                let lane = difference.offset.wrapping_add(at as u64) % 4;
                (lane, found ^ expected, expected & (found ^ expected))
            }));
            checks += 1;
        }
        let Some(&(lane, bit, _)) = wrong.first() else { return };
        let is_one = bit.is_power_of_two() && wrong.iter().all(|(other, mask, _)| (*other, *mask) == (lane, bit));
        if !is_one {
            return;
        }
        let number = lane * 8 + u64::from(bit.trailing_zeros());
        let cleared = wrong.iter().filter(|(_, _, was_set)| *was_set != 0).count();
        let direction = match cleared {
            0 => "reads 1 where 0 was written",
            count if count == wrong.len() => "reads 0 where 1 was written",
            _ => "is inverted",
        };
        self.say(
            "bits",
            format!("all differences are in bit {number} of a dword, which {direction} ({checks} checks)"),
        );
        self.then("test all memory for the same bit: --level stress --filter memory");
        self.then("a card that repeats this is defective: this page is for its vendor");
    }

    fn refusals(&mut self, failed: &[&CheckResult]) {
        let mut refused: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for refusal in failed.iter().filter_map(|result| result.evidence.as_ref()?.refusal.as_ref()) {
            *refused.entry((&refusal.request, &refusal.name)).or_default() += 1;
        }
        for ((request, errno), count) in refused {
            self.say("kernel", format!("the kernel refuses {request} with {errno} ({count} checks)"));
            if errno == "EACCES" || errno == "EPERM" {
                self.then("check the permissions of the render node, and which driver owns it");
            } else {
                self.then("look for the reason in the kernel log, and compare with another kernel");
            }
        }
        let crashed = failed.iter().filter(|result| result.status == Status::Crash).count();
        if crashed > 0 {
            self.say("program", format!("{crashed} checks crashed: this may be a mistake of this program"));
        }
    }

    /// Returns the conclusion as lines of text.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.verdicts.iter().map(|verdict| format!("verdict   {}", verdict.text)).collect();
        for group in &self.groups {
            let named = group.checks.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(" ");
            let more = group.checks.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let count = match group.checks.len() {
                1 => "1 check".to_owned(),
                count => format!("{count} checks"),
            };
            lines.push(format!("failed    {count}: {}", group.reason));
            lines.push(format!("            {named}{more}"));
        }
        lines.extend(
            self.next
                .iter()
                .enumerate()
                .map(|(index, step)| format!("{:<9} {}. {step}", if index == 0 { "next" } else { "" }, index + 1)),
        );
        lines
    }
}

/// IDs of a group that its line names.
const NAMED: usize = 6;

/// Groups failures by their reason, without the ring and the numbers in it.
fn groups(failed: &[&CheckResult]) -> Vec<Group> {
    let mut groups: Vec<(String, Group)> = Vec::new();
    for result in failed {
        let fatal = result.hardware.iter().flat_map(|hardware| &hardware.events).find(|event| event.rule.is_fatal());
        let reason = fatal.map_or_else(|| result.detail.clone(), ToString::to_string);
        let key = match fatal {
            Some(event) => format!("{:?} {}", event.rule, event.source),
            None => without_numbers(&reason),
        };
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.checks.push(result.id.clone()),
            None => groups.push((key, Group { reason, checks: vec![result.id.clone()] })),
        }
    }
    let mut groups: Vec<Group> = groups.into_iter().map(|(_, group)| group).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.checks.len()));
    groups
}

/// Returns a text with one mark for each number, decimal or hexadecimal.
fn without_numbers(text: &str) -> String {
    let is_number = |word: &str| {
        let digits = word.strip_prefix("0x").unwrap_or(word);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .map(|word| if is_number(word) { "#" } else { word.trim_end_matches(|digit: char| digit.is_ascii_digit()) })
        .collect::<Vec<_>>()
        .join(" ")
}

/// The ring at the end of a check's ID.
fn ring(id: &str) -> Option<&str> {
    let last = id.rsplit('.').next()?;
    ENGINES.iter().any(|(kind, _)| engine(last) == *kind && last.len() > kind.len()).then_some(last)
}

/// The rings of a kind that results are about.
fn rings_of<'r>(results: impl Iterator<Item = &'r CheckResult>, kind: &str) -> BTreeSet<String> {
    let rings = results.filter_map(|result| ring(&result.id)).filter(|ring| engine(ring) == kind);
    rings.map(str::to_owned).collect()
}

/// The kind of a ring: `sdma` of `sdma1`.
fn engine(ring: &str) -> &str {
    ring.trim_end_matches(|digit: char| digit.is_ascii_digit())
}

fn joined<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// Bytes that are written as hexadecimal numbers with spaces between them.
fn bytes(text: &str) -> Vec<u8> {
    text.split_whitespace().filter_map(|byte| u8::from_str_radix(byte, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        hardware::state::{Hardware, HardwareEvent},
        result::evidence::{Difference, Evidence, Refusal},
    };

    fn result(id: &str, status: Status, detail: &str) -> CheckResult {
        CheckResult::new(id, status, detail, Duration::ZERO)
    }

    fn concluded(results: &[CheckResult]) -> Option<Conclusion> {
        Conclusion::of(results)
    }

    fn about(conclusion: &Conclusion) -> Vec<&str> {
        conclusion.verdicts.iter().map(|verdict| verdict.about).collect()
    }

    #[test]
    fn one_engine_is_blamed_only_where_others_pass() {
        let bad =
            |ring: &str| result(&format!("exec.copy.{ring}"), Status::Fail, &format!("{ring}: byte 0x{}", ring.len()));
        let good = |ring: &str| result(&format!("exec.copy.{ring}"), Status::Pass, "");
        let conclusion = concluded(&[bad("sdma0"), bad("sdma1"), good("gfx0"), good("compute0")]).unwrap();
        assert_eq!(about(&conclusion), ["engine"]);
        let expected = "copy engines (2 of 2 checks) fail; graphics (1 checks) and compute (1 checks) pass";
        assert_eq!(conclusion.verdicts[0].text, expected);
        assert_eq!(conclusion.groups.len(), 1, "one reason: {:?}", conclusion.groups);
        let conclusion = concluded(&[bad("sdma0"), good("sdma1")]).unwrap();
        assert_eq!(about(&conclusion), ["ring"]);
        assert_eq!(conclusion.verdicts[0].text, "of the copy engines, sdma0 fail and sdma1 pass");
        let conclusion = concluded(&[bad("sdma0"), bad("gfx0")]).unwrap();
        assert_eq!(about(&conclusion), ["unknown"], "nothing that passes");
        let conclusion = concluded(&[bad("sdma0"), bad("sdma1")]).unwrap();
        assert_eq!(
            conclusion.verdicts[0].text,
            "copy engines (2 of 2 checks) fail, and no check of another engine was run"
        );
        assert_eq!(concluded(&[good("gfx0")]), None);
    }

    #[test]
    fn errors_that_the_hardware_counted_outrank_engines_and_fold() {
        let event = HardwareEvent {
            rule: HardwareRule::RasUncorrectable,
            source: "umc".to_owned(),
            before: "0".to_owned(),
            after: "1".to_owned(),
        };
        let hardware = Some(Hardware { events: vec![event], ..Hardware::default() });
        let failed = |number: u32| CheckResult {
            hardware: hardware.clone(),
            ..result(
                &format!("exec.copy.sdma{number}"),
                Status::Fail,
                &format!("detail of its own {}", "x".repeat(number as usize)),
            )
        };
        let mut results: Vec<_> = (0..77).map(failed).collect();
        results.push(result("exec.copy.gfx0", Status::Pass, ""));
        let conclusion = concluded(&results).unwrap();
        assert_eq!(about(&conclusion), ["memory-error"]);
        assert_eq!((conclusion.groups.len(), conclusion.groups[0].checks.len()), (1, 77));
        assert!(conclusion.lines().len() < 10, "{:#?}", conclusion.lines());
    }

    #[test]
    fn a_bit_is_named_only_if_all_differences_are_in_it() {
        let differing = |id: &str, offset, found: &str, expected: &str| {
            let (found, expected) = (found.to_owned(), expected.to_owned());
            let difference = Some(Difference { offset, of: 4096, bytes: 1, found, expected });
            let evidence = Some(Box::new(Evidence { difference, ..Evidence::default() }));
            CheckResult { evidence, ..result(id, Status::Fail, "differs") }
        };
        let stuck = [differing("memory.march", 6, "00 ff", "20 ff"), differing("memory.whole", 10, "01", "21")];
        let conclusion = concluded(&stuck).unwrap();
        let text = "all differences are in bit 21 of a dword, which reads 0 where 1 was written (2 checks)";
        assert_eq!(conclusion.verdicts[0].text, text);
        let mixed = [stuck[0].clone(), differing("memory.whole", 11, "01", "21")];
        assert_eq!(about(&concluded(&mixed).unwrap()), ["unknown"], "another lane");
        let many = concluded(&[differing("memory.march", 0, "00", "30")]).unwrap();
        assert_eq!(about(&many), ["unknown"], "two bits");
    }

    #[test]
    fn hangs_and_refusals_are_counted() {
        let evidence = |evidence: Evidence, id: &str| CheckResult {
            evidence: Some(Box::new(evidence)),
            ..result(id, Status::Timeout, "no end")
        };
        let hang = Evidence { hang: vec!["stopped".to_owned()], ..Evidence::default() };
        let refusal = Some(Refusal { request: "AMDGPU_CS".to_owned(), errno: 1, name: "EPERM".to_owned() });
        let refused = Evidence { refusal, ..Evidence::default() };
        let conclusion = concluded(&[evidence(hang, "exec.nop.gfx0"), evidence(refused, "bo.map")]).unwrap();
        assert_eq!(about(&conclusion), ["hang", "kernel"]);
        assert_eq!(conclusion.verdicts[0].text, "work did not complete on gfx0, first in exec.nop.gfx0 (1 checks)");
        assert_eq!(conclusion.verdicts[1].text, "the kernel refuses AMDGPU_CS with EPERM (1 checks)");
    }
}
