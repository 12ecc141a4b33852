//! Contexts, submissions, fences and software semaphores.

mod chunks;
mod context;
mod fences;
mod priority;
mod raw;
mod ring;
mod semaphores;
mod submit;
