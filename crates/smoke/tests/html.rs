//! The report as a page: complete, alone, and safe from what it shows.

mod support;

use std::fs;
use support::{Scratch, output};

/// The page of a run.
fn page(scratch: &Scratch, arguments: &[&str]) -> String {
    let path = scratch.path("a.html");
    let run = output(&[arguments, &["--html", &path]].concat());
    assert!([Some(0), Some(98)].contains(&run.status.code()), "{run:?}");
    fs::read_to_string(path).unwrap()
}

/// Elements that open and are not closed in their order; those without content are left out.
fn unbalanced(page: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let tag = regex::Regex::new(r"<(/?)([a-z][a-z0-9]*)[^>]*?(/?)>").unwrap();
    let body = page.split("</style>").last().unwrap();
    for found in tag.captures_iter(body).filter(|found| found[3].is_empty()) {
        if found[1].is_empty() {
            open.push(found[2].to_owned());
        } else if open.pop().as_deref() != Some(&found[2]) {
            return vec![found[0].to_owned()];
        }
    }
    open
}

#[test]
fn the_page_has_summary_pictures_and_checks_and_needs_no_other_file() {
    let scratch = Scratch::new("whole");
    let filter = r"^(inventory|bo)\.|^(bandwidth|exec)\.copy\.sdma0";
    let page = page(&scratch, &["--sim", "navi21", "--level", "core", "--filter", filter, "--mutate", "lost-metadata"]);
    for part in [
        "<h1>AMD Radeon RX 6800</h1>",
        "This GPU is simulated: profile navi21, broken by lost-metadata.",
        "<b class=\"fail\">1</b>failed",
        "aria-label=\"Memory heaps, to scale\"",
        "0: invisible VRAM",
        "aria-label=\"Bandwidth of each engine and direction\"",
        "sdma0 download",
        "aria-label=\"Timeline of the checks\"",
        "aria-label=\"Temperature, power and clock during the run\"",
        "<td class=\"fail\">fail</td><td class=\"id\">bo.metadata</td>",
        "<td class=\"pass\">pass</td><td class=\"id\">exec.copy.sdma0</td>",
        "default-src 'none'",
    ] {
        assert!(page.contains(part), "{part} in\n{page}");
    }
    assert_eq!(page.matches("<svg ").count(), 4);
    for foreign in ["http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link", "<img", "<iframe"] {
        // Links lead to rows of the page itself.
        assert!(!page.replace("href=\"#", "").contains(foreign), "{foreign} in\n{page}");
    }
    // The html and body elements opened before the style.
    assert_eq!(unbalanced(&page.replace("</body>\n</html>", "").replacen("</head>\n<body>", "", 1)), [""; 0]);
}

#[test]
fn text_from_outside_stays_text() {
    let scratch = Scratch::new("hostile");
    let captured = output(&["capture", "--sim", "navi21"]);
    assert!(captured.status.success(), "{captured:?}");
    let capture = scratch.path("\"><script>alert('1')<!--&.json");
    fs::write(scratch.0.join("plain"), &captured.stdout).unwrap();
    // A slash cannot be in a name.
    fs::rename(scratch.0.join("plain"), &capture).unwrap();
    let page = page(&scratch, &["--sim", &capture, "--filter", r"^(inventory|bo)\."]);
    assert!(!page.contains("<script") && !page.contains("<!--"), "{page}");
    assert!(page.contains("&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;!--&amp;.json"), "{page}");
    assert_eq!(unbalanced(&page.replace("</body>\n</html>", "").replacen("</head>\n<body>", "", 1)), [""; 0]);
}

#[test]
fn a_gpu_that_does_not_open_and_a_soak_have_pages_too() {
    let scratch = Scratch::new("odd");
    let absent = page(&scratch, &["--gpu", "/dev/urandom"]);
    assert!(absent.contains("GPU that does not open") && absent.contains("EINVAL"), "{absent}");
    let soaked = page(&scratch, &["--sim", "navi21", "--filter", "^bo.map$", "--for", "0.01s"]);
    assert!(soaked.contains("<h2>Soak</h2>") && soaked.contains("1 of 1 checks never failed."), "{soaked}");
    let full = output(&["--sim", "navi21", "--filter", "^bo.map$", "--html", "/dev/full"]);
    assert_eq!(full.status.code(), Some(79));
    assert_eq!(output(&["--sim", "navi21", "--html", "/proc/no/such"]).status.code(), Some(79));
}
