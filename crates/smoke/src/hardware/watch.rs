//! The watch: a thread that reads a GPU's sensors and counters.

use std::{
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::Duration,
};

use amdgpu_winsys::uapi::WedgedEvent;

use super::state::{Hardware, HardwareRule, Watched};
use super::{
    kernel_log::{KernelLog, Message},
    reading::{Files, Reading},
    resets::Resets,
    rules::{Course, Memory, event},
    source::{Monitor, Source},
};

/// The time between two readings while a check runs.
const INTERVAL: Duration = Duration::from_millis(100);

/// The time limit of a reading. The driver answers in milliseconds, but may never answer for a GPU that hangs.
const PATIENCE: Duration = Duration::from_secs(2);

/// A request to the thread.
#[derive(Debug)]
enum Request {
    /// Queries the sources that are watched.
    Sources(Sender<Watched>),
    /// A check begins.
    Begin(Sender<()>),
    /// The check has ended.
    End(Sender<Hardware>),
}

/// The observations during a check, or since the previous check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The state of the hardware, if the GPU reports any.
    pub(crate) hardware: Option<Hardware>,
    /// The messages of the kernel.
    pub(crate) messages: Vec<Message>,
    /// The events of the kernel about resets.
    pub(crate) resets: Vec<WedgedEvent>,
}

/// A watch on one GPU. A separate thread reads the files, so that files that do not answer delay neither checks nor reports.
#[derive(Debug)]
pub(crate) struct Watch {
    thread: Option<Sender<Request>>,
    /// `true` from the request that the thread did not answer until the result of a check has the event.
    is_silent: bool,
    log: KernelLog,
    resets: Resets,
}

impl Watch {
    /// Creates a watch without a GPU, which observes nothing.
    pub(crate) const fn none() -> Self {
        Self { thread: None, is_silent: false, log: KernelLog::none(), resets: Resets::none() }
    }

    /// Starts watching a GPU, and the kernel log if the GPU is real.
    pub(crate) fn new(monitor: &Monitor) -> Self {
        let source = monitor.open();
        let (log, resets) = match monitor {
            Monitor::Node(_) => {
                let device = source.iter().flat_map(|source| source.path()).next();
                (KernelLog::open(device.clone()), Resets::open(device.map(|(pci, _)| pci)))
            }
            Monitor::Simulated(device) => (KernelLog::none(), Resets::of(device)),
            Monitor::None => (KernelLog::none(), Resets::none()),
        };
        let thread = source.and_then(|source| {
            let (sender, requests) = mpsc::channel();
            let thread = thread::Builder::new().name("hardware watch".to_owned());
            thread.spawn(move || Reader::new(source).serve(&requests)).ok().map(|_| sender)
        });
        Self { thread, is_silent: false, log, resets }
    }

    /// Returns the sources that are watched; `None` without a GPU.
    pub(crate) fn sources(&mut self) -> Option<Watched> {
        let mut watched = self.ask(Request::Sources)?;
        match self.log.trouble() {
            None => watched.sources.push("kernel log".to_owned()),
            Some(reason) => watched.missing.push(format!("kernel log ({reason})")),
        }
        match (&self.resets, self.resets.trouble()) {
            (_, Some(reason)) => watched.missing.push(format!("events of resets ({reason})")),
            (Resets::Socket(..), None) => watched.sources.push("events of resets".to_owned()),
            _ => {}
        }
        Some(watched)
    }

    /// Starts the observation of a check.
    pub(crate) fn begin(&mut self) {
        self.ask(Request::Begin);
    }

    /// Ends the observation of a check, and returns the observations since the previous check.
    pub(crate) fn end(&mut self) -> Seen {
        let hardware = self.ask(Request::End);
        let hardware = hardware.or_else(|| std::mem::take(&mut self.is_silent).then(silent));
        Seen { hardware, messages: self.log.read(), resets: self.resets.read() }
    }

    /// Sends a request to the thread. If the thread does not answer, it gets no further requests.
    fn ask<T>(&mut self, request: impl FnOnce(Sender<T>) -> Request) -> Option<T> {
        let (answer, answers) = mpsc::channel();
        let answered =
            self.thread.as_ref()?.send(request(answer)).ok().and_then(|()| answers.recv_timeout(PATIENCE).ok());
        if answered.is_none() {
            self.thread = None;
            self.is_silent = true;
        }
        answered
    }
}

/// The state of a GPU whose files do not answer.
fn silent() -> Hardware {
    let after = format!("no answer in {} s, and no more readings", PATIENCE.as_secs());
    let events = vec![event(HardwareRule::NoAnswer, "sysfs", String::new(), after)];
    Hardware { events, ..Hardware::default() }
}

/// The part that reads.
#[derive(Debug)]
struct Reader {
    source: Box<dyn Source>,
    files: Files,
    memory: Memory,
    /// The reading before the check that runs or comes: errors between two checks are counted to the later one.
    last: Reading,
    course: Option<Course>,
}

impl Reader {
    fn new(source: Box<dyn Source>) -> Self {
        let files = Files::find(&*source);
        let last = files.read(&*source);
        Self { source, files, memory: Memory::default(), last, course: None }
    }

    /// Answers requests until the watch is dropped. The watch does not wait for the answer of a reading that took too long.
    fn serve(mut self, requests: &Receiver<Request>) {
        loop {
            let request = match &self.course {
                None => requests.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(_) => requests.recv_timeout(INTERVAL),
            };
            match request {
                Ok(Request::Sources(answer)) => {
                    let _ = answer.send(self.files.watched(&self.last));
                }
                Ok(Request::Begin(answer)) => {
                    self.course = Some(Course::new(self.last.clone(), &mut self.memory));
                    let _ = answer.send(());
                }
                Ok(Request::End(answer)) => {
                    let _ = answer.send(self.end());
                }
                Err(RecvTimeoutError::Timeout) => {
                    let now = self.files.sample(&*self.source);
                    if let Some(course) = &mut self.course {
                        course.add(&now, &mut self.memory);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn end(&mut self) -> Hardware {
        let mut after = self.files.read(&*self.source);
        let course = self.course.take().unwrap_or_else(|| Course::new(self.last.clone(), &mut self.memory));
        let hardware = course.end(&after, &self.files, &mut self.memory);
        // A counter that cannot be read during a reset is compared when it can be again.
        for (name, counter) in std::mem::take(&mut self.last.counters) {
            after.counters.entry(name).or_insert(counter);
        }
        self.last = after;
        hardware
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeSet,
        fs::File,
        io::{self, ErrorKind, Write},
        sync::{Arc, Mutex},
    };

    use amdgpu_sim::{HardwareError, SimDevice, SimOptions, profile};

    use super::*;

    #[test]
    fn errors_between_two_checks_are_those_of_the_later_one() {
        let options = SimOptions { power: true, ras: true, ..SimOptions::default() };
        let device = SimDevice::new(profile("navi21").unwrap(), options);
        let mut watch = Watch::new(&Monitor::Simulated(device.clone()));
        watch.begin();
        assert_eq!(watch.end().hardware.unwrap().events, []);
        device.inject_hardware_error(HardwareError::RasUncorrectable);
        watch.begin();
        assert_eq!(watch.end().hardware.unwrap().events.len(), 1);
        watch.begin();
        assert_eq!(watch.end().hardware.unwrap().events, []);
    }

    #[test]
    fn messages_between_two_checks_are_those_of_the_later_one_and_earlier_ones_are_left_out() {
        let path = std::env::temp_dir().join(format!("amdgpu-smoke-kmsg-{}", std::process::id()));
        let mut written = File::create(&path).unwrap();
        let mut say = |text: &str| written.write_all(format!("3,1,2,-;amdgpu: {text}\n").as_bytes()).unwrap();
        say("before the run");
        let mut watch = Watch { log: KernelLog::over(File::open(&path), None), ..Watch::none() };
        let mut check = || {
            watch.begin();
            watch.end().messages.into_iter().map(|message| message.text).collect::<Vec<_>>()
        };
        assert_eq!(check(), Vec::<String>::new());
        say("between two checks");
        assert_eq!(check(), ["amdgpu: between two checks"]);
        assert_eq!(check(), Vec::<String>::new());
        std::fs::remove_file(&path).unwrap();
    }

    /// A GPU that tells when its fan has been read, the last figure of a reading.
    #[derive(Debug)]
    struct Signalling(Box<dyn Source>, Sender<()>);

    impl Source for Signalling {
        fn read(&self, name: &str) -> io::Result<String> {
            if name.ends_with("fan1_input") {
                let _ = self.1.send(());
            }
            self.0.read(name)
        }

        fn list(&self, directory: &str) -> BTreeSet<String> {
            self.0.list(directory)
        }

        fn path(&self) -> Vec<(String, String)> {
            self.0.path()
        }
    }

    #[test]
    fn the_peak_is_read_while_the_check_runs() {
        let device = SimDevice::new(profile("navi21").unwrap(), SimOptions { power: true, ..SimOptions::default() });
        let (reads, read) = mpsc::channel();
        let source = Signalling(Monitor::Simulated(device.clone()).open().unwrap(), reads);
        let (sender, requests) = mpsc::channel();
        thread::spawn(move || Reader::new(Box::new(source)).serve(&requests));
        let mut watch = Watch { thread: Some(sender), ..Watch::none() };
        watch.begin();
        device.follow_load(Some("60 100 0 77".parse().unwrap()));
        while read.try_recv().is_ok() {}
        // The first may have begun before the load.
        read.recv().unwrap();
        read.recv().unwrap();
        device.follow_load(Some("60 0 0 40".parse().unwrap()));
        let hardware = watch.end().hardware.unwrap();
        assert_eq!((hardware.peak.edge_mc, hardware.after.edge_mc), (Some(77_000), Some(40_000)));
    }

    /// A GPU with one counter, which cannot be queried during a reset.
    #[derive(Debug)]
    struct Reset(Arc<Mutex<&'static str>>);

    impl Source for Reset {
        fn read(&self, name: &str) -> io::Result<String> {
            if name == "ras/umc_err_count" {
                Ok(self.0.lock().unwrap().to_string())
            } else {
                Err(ErrorKind::NotFound.into())
            }
        }

        fn list(&self, directory: &str) -> BTreeSet<String> {
            (directory == "ras").then(|| "umc_err_count".to_owned()).into_iter().collect()
        }

        fn path(&self) -> Vec<(String, String)> {
            Vec::new()
        }
    }

    #[test]
    fn an_error_during_a_reset_is_reported_when_its_counter_can_be_read_again() {
        let text = Arc::new(Mutex::new("ue: 0\nce: 0\n"));
        let mut reader = Reader::new(Box::new(Reset(Arc::clone(&text))));
        let mut after = |now| {
            *text.lock().unwrap() = now;
            reader.end().events.len()
        };
        assert_eq!(after("Query currently inaccessible\n"), 0);
        assert_eq!(after("ue: 1\nce: 0\n"), 1);
        assert_eq!(after("ue: 1\nce: 0\n"), 0);
    }

    /// A GPU whose files stop to answer as long as the lock is held.
    #[derive(Debug)]
    struct Stuck(&'static Mutex<()>);

    impl Source for Stuck {
        fn read(&self, _: &str) -> io::Result<String> {
            drop(self.0.lock());
            Ok("1\n".to_owned())
        }

        fn list(&self, _: &str) -> BTreeSet<String> {
            BTreeSet::new()
        }

        fn path(&self) -> Vec<(String, String)> {
            vec![("0000:03:00.0".to_owned(), String::new())]
        }
    }

    #[test]
    fn files_that_do_not_answer_are_reported_once_and_hold_nothing_up() {
        static LOCK: Mutex<()> = Mutex::new(());
        let (sender, requests) = mpsc::channel();
        let reader = thread::spawn(move || Reader::new(Box::new(Stuck(&LOCK))).serve(&requests));
        let mut watch = Watch { thread: Some(sender), ..Watch::none() };
        watch.begin();
        let held = LOCK.lock().unwrap();
        let hardware = watch.end().hardware.unwrap();
        assert_eq!(hardware.events[0].rule, HardwareRule::NoAnswer);
        watch.begin();
        assert_eq!(watch.end(), Seen::default());
        drop(held);
        reader.join().unwrap();
    }

    #[test]
    fn files_that_never_answered_are_reported_too() {
        static LOCK: Mutex<()> = Mutex::new(());
        let held = LOCK.lock().unwrap();
        let (sender, requests) = mpsc::channel();
        let reader = thread::spawn(move || Reader::new(Box::new(Stuck(&LOCK))).serve(&requests));
        let mut watch = Watch { thread: Some(sender), ..Watch::none() };
        watch.begin();
        assert_eq!(watch.sources(), None);
        assert_eq!(watch.end().hardware.unwrap().events[0].rule, HardwareRule::NoAnswer);
        watch.begin();
        assert_eq!(watch.end(), Seen::default());
        drop(held);
        reader.join().unwrap();
    }

    #[test]
    fn without_a_gpu_nothing_is_seen() {
        let mut watch = Watch::new(&Monitor::None);
        watch.begin();
        assert_eq!((watch.end(), watch.sources()), (Seen::default(), None));
    }
}
