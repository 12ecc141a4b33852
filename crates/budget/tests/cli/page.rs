//! The page of `serve` as Chromium shows it; skipped where there is none.

use std::{
    collections::HashMap,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    process::{Command, Output},
    sync::Arc,
    thread,
};

use serde_json::{Value, json};

use crate::{server::Served, support::Directory};

/// Shows a page in Chromium with these options.
fn chromium(url: &str, options: &[&str]) -> std::io::Result<Output> {
    let profile = Directory::new();
    Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", &format!("--user-data-dir={}", profile.join("profile"))])
        .args(options)
        .arg(url)
        .output()
}

/// Shows the page of a server.
fn browse(chips: &str, options: &[&str]) -> std::io::Result<Output> {
    let served = Served::new(chips);
    chromium(&format!("http://{}/", served.address()), options)
}

/// With AMDGPU_BUDGET_WRITE_GOLDENS it is made anew; it is not compared, because letters look different on each computer.
#[test]
fn the_readme_has_a_picture_of_the_page() {
    let picture = concat!(env!("CARGO_MANIFEST_DIR"), "/doc/page.png");
    if std::env::var_os("AMDGPU_BUDGET_WRITE_GOLDENS").is_some() {
        let screenshot = format!("--screenshot={picture}");
        let options = ["--window-size=1140,790", "--hide-scrollbars", "--virtual-time-budget=40000", &screenshot];
        assert!(browse("navi21", &options).unwrap().status.success());
    }
    assert!(fs::read(picture).unwrap().starts_with(b"\x89PNG"));
    assert!(include_str!("../../README.md").contains("(doc/page.png)"));
}

/// The page as a browser shows it; skipped where there is no Chromium.
#[test]
fn a_browser_shows_the_figures() {
    let Ok(shown) = browse("navi21,renoir", &["--virtual-time-budget=5000", "--dump-dom"]) else { return };
    let dom = String::from_utf8_lossy(&shown.stdout);
    for text in [
        "AMD Radeon RX 6800",
        "AMD Radeon Graphics",
        ">game</td>",
        "8.36 GiB",
        "<polygon",
        "displaced from VRAM",
        ", sim</span>",
    ] {
        assert!(dom.contains(text), "{text}: {dom}");
    }
}

/// The page with figures that stay the same, each time it is opened: in a frame of an exact width, since a window has a least one.
struct Fixed {
    address: String,
}

impl Fixed {
    fn new(chips: &str) -> Self {
        let served = Served::new(chips);
        let body = |path: &str| served.get(path).split_once("\r\n\r\n").unwrap().1.to_owned();
        let mut snapshot: Value = serde_json::from_str(&body("/api/snapshot")).unwrap();
        for gpu in snapshot["gpus"].as_array_mut().unwrap() {
            gpu["processes"][0]["name"] = "a game whose name is longer than any column of a table is wide".into();
        }
        let history = json!({ "points": (1..=6).map(|point| past(&snapshot, point)).collect::<Vec<_>>() });
        let pages = HashMap::from([
            ("/".to_owned(), ("text/html", body("/"))),
            ("/api/snapshot".to_owned(), ("application/json", snapshot.to_string())),
            ("/api/history".to_owned(), ("application/json", history.to_string())),
        ]);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        thread::spawn(move || serve(&listener, &Arc::new(pages)));
        Self { address }
    }

    /// Shows the page in this width.
    fn browse(&self, width: u32, options: &[&str]) -> Output {
        let window = format!("--window-size={},2400", width.max(500));
        let options = [&["--hide-scrollbars", "--virtual-time-budget=9000", &window], options].concat();
        chromium(&format!("http://{}/frame/{width}", self.address), &options).unwrap()
    }

    /// The findings of [`MEASURE`] in this width.
    fn facts(&self, width: u32) -> Value {
        let output = self.browse(width, &["--dump-dom"]);
        let dom = String::from_utf8_lossy(&output.stdout);
        let facts =
            dom.split_once("<pre>").and_then(|(_, rest)| rest.split_once("</pre>")).unwrap_or_else(|| panic!("{dom}"));
        serde_json::from_str(&facts.0.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")).unwrap()
    }

    fn picture(&self, width: u32) -> Vec<u8> {
        let directory = Directory::new();
        let file = directory.join("page.png");
        self.browse(width, &[&format!("--screenshot={file}")]);
        fs::read(file).unwrap()
    }
}

/// A moment before the snapshot, as the server would remember it: the sizes of each memory go up and down.
fn past(snapshot: &Value, point: u64) -> Value {
    let gpus = snapshot["gpus"].as_array().unwrap().iter().map(|gpu| {
        let used = |domain: &str| gpu["domains"][domain]["used"].as_u64().unwrap() / (1 + point % 3);
        json!({ "pci": gpu["pci"], "vram": used("vram"), "gtt": used("gtt"), "evicted": (point % 4) << 28 })
    });
    let at = snapshot["monotonic_ns"].as_u64().unwrap() - (7 - point) * 1_000_000;
    json!({ "time": snapshot["time"], "monotonic_ns": at, "gpus": gpus.collect::<Vec<_>>() })
}

/// Answers until the test ends.
fn serve(listener: &TcpListener, pages: &Arc<HashMap<String, (&'static str, String)>>) {
    for mut stream in listener.incoming().map_while(Result::ok) {
        let pages = Arc::clone(pages);
        thread::spawn(move || {
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let request = lines.next().unwrap_or_default();
            lines.find(String::is_empty);
            let path = request.split(' ').nth(1).unwrap_or_default();
            let framed = path.strip_prefix("/frame/").map(|width| ("text/html", MEASURE.replace("WIDTH", width)));
            let (status, (kind, body)) = match framed.or_else(|| pages.get(path).cloned()) {
                Some(page) => ("200 OK", page),
                None => ("404 Not Found", ("text/plain", String::new())),
            };
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            // A browser that is gone has its picture.
            let _ = stream.write_all((head + &body).as_bytes());
        });
    }
}

/// A page with a frame, and what a person would see at a glance, as JSON.
const MEASURE: &str = r#"<!doctype html><body style="margin:0"><iframe style="border:0;width:WIDTHpx;height:2400px" src="/"></iframe><script>
const frame = document.querySelector("iframe");
const box = node => { const at = node.getBoundingClientRect(); return { left: at.left, right: at.right, top: at.top, bottom: at.bottom }; };
const shown = node => { const at = box(node); return at.right > at.left && at.bottom > at.top; };
const words = node => node.textContent.trim().slice(0, 20) || node.tagName;
setTimeout(() => {
  const page = frame.contentDocument, sections = [...page.querySelectorAll("section")];
  const found = sections.map(section => {
    const inside = box(section);
    const parts = [...section.querySelectorAll("h2, h3, .soft, .warning, .bars > *, .axis > *, svg, input, th, td, summary")].filter(shown);
    const over = [];
    parts.forEach((one, at) => parts.slice(at + 1).forEach(other => {
      const a = box(one), b = box(other);
      const both = Math.min(Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
      if (both > 1 && !one.contains(other)) over.push(words(one) + " / " + words(other));
    }));
    const titled = [...section.querySelectorAll(".charts > div")].find(chart => chart.textContent.startsWith("displaced"));
    const points = titled?.querySelector("polygon").getAttribute("points").split(" ");
    return {
      box: inside, over, points: points?.length ?? 0,
      heights: new Set(points?.map(point => point.split(",")[1])).size,
      outside: parts.filter(part => box(part).right > inside.right || box(part).left < inside.left).map(words),
      columns: [...section.querySelectorAll("th")].filter(shown).map(node => node.textContent),
      rows: section.querySelectorAll("td.name").length,
    };
  });
  const facts = { lacks: page.documentElement.scrollWidth - frame.contentWindow.innerWidth, state: page.getElementById("state").textContent,
    sections: found };
  document.body.append(Object.assign(document.createElement("pre"), { textContent: JSON.stringify(facts) }));
}, 5000);
</script>"#;

const MOST: [&str; 9] = ["Name", "PID", "User", "Own VRAM", "Own GTT", "Shared", "Requested", "Displaced", "Age"];

#[test]
fn the_page_fits_in_narrow_and_wide_windows() {
    if Command::new("chromium").arg("--version").output().is_err() {
        return;
    }
    let page = Fixed::new("navi21,renoir");
    let apu: Vec<_> = MOST.into_iter().filter(|name| *name != "Displaced").collect();
    let narrow: [&[&str]; 2] = [&["Name", "PID", "Own VRAM", "Displaced"], &["Name", "PID", "Own VRAM", "Own GTT"]];
    let wide: [&[&str]; 2] = [&MOST, &apu];
    for (width, abreast, columns) in [(420, false, narrow), (1100, false, wide), (1600, true, wide)] {
        let facts = page.facts(width);
        assert!(facts["lacks"].as_i64().unwrap() <= 0, "{width}: the page is wider than the window: {facts:#}");
        let sections = facts["sections"].as_array().unwrap();
        assert_eq!(sections.len(), 2, "{width}: {facts:#}");
        for (section, columns) in sections.iter().zip(columns) {
            assert_eq!(section["columns"], json!(columns), "{width}");
            assert!(section["rows"].as_u64().unwrap() >= 4, "{width}: {section:#}");
            assert_eq!(section["over"], json!([]), "{width}: boxes lie on each other");
            assert_eq!(section["outside"], json!([]), "{width}: parts are cut off");
        }
        let [card, apu] = [0, 1].map(|at| &sections[at]);
        assert_eq!(card["points"], 14, "{width}: seven moments, there and back: {card:#}");
        assert!(card["heights"].as_u64().unwrap() >= 4, "{width}: the curve is flat: {card:#}");
        assert_eq!(apu["points"], 0, "{width}: an APU displaces nothing");
        let edge = |section: &Value, name: &str| section["box"][name].as_f64().unwrap();
        let is_same = |name: &str| (edge(card, name) - edge(apu, name)).abs() < 0.5;
        if abreast {
            assert!(edge(card, "right") < edge(apu, "left") && is_same("top"), "{width}: {facts:#}");
        } else {
            assert!(edge(card, "bottom") < edge(apu, "top") && is_same("left"), "{width}: {facts:#}");
        }
        let picture = page.picture(width);
        // An empty page has a few kB.
        assert!(picture.starts_with(b"\x89PNG") && picture.len() > 40_000, "{width}: {} bytes", picture.len());
        // Edges of letters may differ by a shade.
        let differs = picture.len().abs_diff(page.picture(width).len());
        assert!(differs < picture.len() / 100, "{width}: two pictures of the same figures differ by {differs} bytes");
    }
}
