//! The hints at failures: the rules of the strict mode that a symptom fits.

mod support;

use support::{output, stdout};

const BROKEN: [&str; 6] = ["--sim", "navi21", "--mutate", "short-copy:sdma", "--filter", r"^exec\.copy\.(sdma0|gfx0)"];

#[test]
fn a_failed_check_names_the_rules_that_its_symptom_fits_if_it_is_asked_to() {
    let run = output(&[&BROKEN[..], &["--hardware-hints"]].concat());
    assert_eq!(run.status.code(), Some(98));
    let text = stdout(&run);
    assert!(text.contains("a real GPU fails like this if a stream breaks a rule"), "{text}");
    assert!(text.contains("race: copies of a copy engine overlap") && text.contains("(radv_sdma_emit_nop)"), "{text}");
    let run = output(&[&BROKEN[..], &["--hardware-hints", "--json"]].concat());
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    let results = report["results"].as_array().unwrap();
    let of = |id: &str| results.iter().find(|result| result["id"] == id).unwrap()["evidence"]["hints"].clone();
    assert_eq!(of("exec.copy.sdma0")[0]["rule"], "race");
    assert_eq!(of("exec.copy.sdma0")[0]["mesa"], "radv_sdma_emit_nop");
    // That one passed.
    assert!(of("exec.copy.gfx0").is_null());
}

#[test]
fn without_the_option_there_are_no_hints() {
    let run = output(&[&BROKEN[..], &["--json"]].concat());
    let text = stdout(&run);
    assert!(text.contains("\"difference\"") && !text.contains("\"hints\""), "{text}");
}
