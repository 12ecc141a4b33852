//! Arrows that run up: uses between the folders of a part, against the order of folders that has the fewest of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use crate::{graph::Edges, picture, questions};

/// Folders that each folder uses, and one use for each.
type Arrows = BTreeMap<PathBuf, BTreeMap<PathBuf, String>>;

/// Folders of one part.
struct Rooms {
    names: Vec<PathBuf>,
    /// Uses between them, by their places in `names`.
    arrows: BTreeSet<(usize, usize)>,
}

impl Rooms {
    fn of(arrows: &Arrows) -> Self {
        let names: BTreeSet<&PathBuf> = arrows.keys().chain(arrows.values().flat_map(BTreeMap::keys)).collect();
        let names: Vec<PathBuf> = names.into_iter().cloned().collect();
        let at = |name: &PathBuf| names.binary_search(name).unwrap();
        let arrows = arrows.iter().flat_map(|(from, used)| used.keys().map(move |to| (from, to)));
        let arrows = arrows.map(|(from, to)| (at(from), at(to))).collect();
        Self { names, arrows }
    }

    /// Returns the arrows from a room to one that stands before it. Users stand before what they use.
    fn up(&self, order: &[usize]) -> Vec<(usize, usize)> {
        let place = |room: usize| order.iter().position(|&other| other == room).unwrap();
        self.arrows.iter().copied().filter(|&(from, to)| place(from) > place(to)).collect()
    }

    /// Returns the order with the fewest arrows up that moves of single rooms reach, from the greedy order of Eades, Lin and
    /// Smyth (1993): rooms that use nothing last, rooms that nothing uses first, and else the room with the largest surplus.
    fn order(&self) -> Vec<usize> {
        let mut left: BTreeSet<usize> = (0..self.names.len()).collect();
        let (mut first, mut last) = (Vec::new(), Vec::new());
        while !left.is_empty() {
            let count = |is_counted: &dyn Fn(usize, usize) -> bool| {
                let inside = self.arrows.iter().filter(|(from, to)| left.contains(from) && left.contains(to));
                inside.filter(|&&(from, to)| is_counted(from, to)).count()
            };
            let uses = |room: usize| count(&|from, _| from == room);
            let users = |room: usize| count(&|_, to| to == room);
            if let Some(room) = left.iter().copied().find(|&room| uses(room) == 0) {
                last.push(room);
                left.remove(&room);
                continue;
            }
            let room = left.iter().copied().max_by_key(|&room| {
                let users = users(room);
                (users == 0, uses(room).saturating_sub(users), std::cmp::Reverse(users))
            });
            let room = room.unwrap();
            first.push(room);
            left.remove(&room);
        }
        first.extend(last.into_iter().rev());
        self.improve(first)
    }

    /// Moves single rooms for as long as that leaves fewer arrows up.
    fn improve(&self, mut order: Vec<usize>) -> Vec<usize> {
        let mut fewest = self.up(&order).len();
        loop {
            let before = fewest;
            for room in 0..order.len() {
                for place in 0..order.len() {
                    let mut moved = order.clone();
                    let from = moved.iter().position(|&other| other == room).unwrap();
                    moved.remove(from);
                    moved.insert(place, room);
                    let up = self.up(&moved).len();
                    if up < fewest {
                        (order, fewest) = (moved, up);
                    }
                }
            }
            if fewest == before {
                return order;
            }
        }
    }
}

/// Returns the arrows between the folders of each part. What a folder's files only re-export is no use.
fn arrows(root: &Path, edges: &Edges) -> BTreeMap<String, Arrows> {
    let mut parts: BTreeMap<String, Arrows> = BTreeMap::new();
    let room = |file: &Path| file.strip_prefix(root).ok().and_then(Path::parent).map(Path::to_path_buf);
    let part = |file: &Path| picture::part(root, file);
    for (file, used) in edges {
        let (Some(name), Some(from)) = (part(file), room(file)) else { continue };
        let rooms = parts.entry(name.clone()).or_default();
        rooms.entry(from.clone()).or_default();
        for (other, names) in used.iter().filter(|(other, _)| part(other).as_ref() == Some(&name)) {
            let Some(to) = room(other).filter(|to| *to != from) else { continue };
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            let file = file.file_name().unwrap_or_default().to_string_lossy();
            let use_ = format!("{file} for {}", names.join(", "));
            rooms
                .entry(from.clone())
                .or_default()
                .entry(to)
                .and_modify(|uses| *uses = format!("{uses}; {use_}"))
                .or_insert(use_);
        }
    }
    parts
}

#[test]
fn a_part_whose_folders_use_one_another_has_an_answer_why() {
    let mut asked = Vec::new();
    let parts = arrows(&crate::root(), crate::edges());
    assert!(
        ["sim", "src/cs", "src/winsys", "waves"].iter().all(|part| parts[*part].len() > 5),
        "folders were not read"
    );
    for (part, arrows) in parts {
        let rooms = Rooms::of(&arrows);
        let up = rooms.up(&rooms.order());
        println!("{part}: {} rooms, {} arrows, {} up", rooms.names.len(), rooms.arrows.len(), up.len());
        for &(from, to) in &up {
            let (from, to) = (&rooms.names[from], &rooms.names[to]);
            println!("  {} -> {}: {}", from.display(), to.display(), arrows[from][to]);
        }
        if !up.is_empty() {
            asked.push((format!("do folders of {part} use folders above them?"), up.len()));
        }
    }
    questions::ask(&asked);
}

#[test]
fn arrows_up_are_counted_in_the_order_that_has_the_fewest() {
    let rooms = |arrows: &[(&str, &str)]| {
        let mut all = Arrows::new();
        for (from, to) in arrows {
            all.entry((*from).into()).or_default().insert((*to).into(), String::new());
        }
        let rooms = Rooms::of(&all);
        rooms.up(&rooms.order()).len()
    };
    assert_eq!(rooms(&[("top", "middle"), ("top", "ground"), ("middle", "ground")]), 0);
    assert_eq!(rooms(&[("top", "middle"), ("middle", "ground"), ("ground", "top")]), 1);
    // The hub is used by all and uses all: as many arrows run up as it has neighbours, in whichever order.
    assert_eq!(rooms(&[("hub", "a"), ("hub", "b"), ("hub", "c"), ("a", "hub"), ("b", "hub"), ("c", "hub")]), 3);
    // Two circles that share an arrow need one arrow up only.
    assert_eq!(rooms(&[("a", "b"), ("b", "c"), ("c", "a"), ("b", "d"), ("d", "a"), ("a", "d")]), 2);
}
