//! Signals, memos and stored values that are compiled once.
//!
//! Leptos compiles what makes a signal reactive (subscribers, guards, its place in the arena) for each type that a signal holds, and once
//! more for each closure that reads it; with some forty types that was a quarter of the download. Here the machinery holds a value of
//! any type, and only the step from there to the type is compiled for each.
//!
//! They are used as those of Leptos, whose names they take; a module that imports these reads them and not the prelude's.

use leptos::prelude::{Update, UpdateUntracked, UpdateValue, With, WithUntracked, WithValue};
use std::any::Any;
use std::marker::PhantomData;

/// A value of some type.
type Slot = Box<dyn Any + Send + Sync>;

/// A signal that lives as long as the owner in which it was made.
pub type RwSignal<T> = Typed<leptos::prelude::RwSignal<Slot>, T>;
/// A signal that lives as long as someone holds it.
pub type ArcRwSignal<T> = Typed<leptos::prelude::ArcRwSignal<Slot>, T>;
/// What is computed from signals, and tells only of changes.
pub type Memo<T> = Typed<leptos::prelude::Memo<Computed>, T>;
/// A value that nobody is told about.
pub type StoredValue<T> = Typed<leptos::prelude::StoredValue<Slot>, T>;

/// A cell of the reactive system that holds a `T`.
pub struct Typed<C, T> {
    cell: C,
    of: PhantomData<fn() -> T>,
}

impl<C: Clone, T> Clone for Typed<C, T> {
    fn clone(&self) -> Self {
        Self { cell: self.cell.clone(), of: PhantomData }
    }
}

impl<C: Copy, T> Copy for Typed<C, T> {}

/// Whether whoever reads is told of later changes, or whoever has read is told of this one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// They are.
    Yes,
    /// They are not.
    No,
}

/// Who borrows a value. A trait of its own, since a closure's would bring a second way to call it for each.
pub trait Reader {
    /// Is lent the value.
    fn read(&mut self, value: &dyn Any);
}

/// Who borrows a value to change it.
pub trait Writer {
    /// Is lent the value.
    fn write(&mut self, value: &mut dyn Any);
}

/// What can be read.
pub trait Cell {
    /// Lends its value; not, when its owner is gone.
    fn lend(&self, told: Told, reader: &mut dyn Reader);
}

/// What can be written, too.
pub trait CellMut: Cell {
    /// Lends its value to be changed; not, when its owner is gone.
    fn change(&self, told: Told, writer: &mut dyn Writer);
}

macro_rules! signal {
    ($cell:ty) => {
        impl Cell for $cell {
            fn lend(&self, told: Told, reader: &mut dyn Reader) {
                match told {
                    Told::Yes => self.try_with(|slot| reader.read(&**slot)),
                    Told::No => self.try_with_untracked(|slot| reader.read(&**slot)),
                };
            }
        }

        impl CellMut for $cell {
            fn change(&self, told: Told, writer: &mut dyn Writer) {
                match told {
                    Told::Yes => self.try_update(|slot| writer.write(&mut **slot)),
                    Told::No => self.try_update_untracked(|slot| writer.write(&mut **slot)),
                };
            }
        }

        impl<T: Send + Sync + 'static> Typed<$cell, T> {
            /// One that holds this.
            #[track_caller]
            pub fn new(value: T) -> Self {
                Self { cell: <$cell>::new(Box::new(value)), of: PhantomData }
            }
        }
    };
}

signal!(leptos::prelude::RwSignal<Slot>);
signal!(leptos::prelude::ArcRwSignal<Slot>);

impl Cell for leptos::prelude::StoredValue<Slot> {
    fn lend(&self, _: Told, reader: &mut dyn Reader) {
        self.try_with_value(|slot| reader.read(&**slot));
    }
}

impl CellMut for leptos::prelude::StoredValue<Slot> {
    fn change(&self, _: Told, writer: &mut dyn Writer) {
        self.try_update_value(|slot| writer.write(&mut **slot));
    }
}

impl<T: Send + Sync + 'static> StoredValue<T> {
    /// One that holds this.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self { cell: leptos::prelude::StoredValue::new(Box::new(value)), of: PhantomData }
    }

    /// What `read` makes of the value.
    pub fn with_value<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        self.with_untracked(read)
    }

    /// The same, while it is there.
    pub fn try_with_value<R>(&self, read: impl FnOnce(&T) -> R) -> Option<R> {
        self.try_with_untracked(read)
    }

    /// A copy of the value.
    pub fn get_value(&self) -> T
    where
        T: Clone,
    {
        self.get_untracked()
    }

    /// The same, while it is there.
    pub fn try_get_value(&self) -> Option<T>
    where
        T: Clone,
    {
        self.try_get_untracked()
    }

    /// Puts another value in its place.
    pub fn set_value(&self, value: T) {
        self.set(value);
    }

    /// The same; whether it is there.
    pub fn try_set_value(&self, value: T) -> bool {
        self.try_set(value)
    }

    /// Changes the value.
    pub fn update_value(&self, change: impl FnOnce(&mut T)) {
        self.update(change);
    }

    /// Changes the value while it is there, and answers with what `change` did.
    pub fn try_update_value<R>(&self, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.try_update(change)
    }
}

/// A computed value, and how it is compared with the one before.
pub struct Computed {
    value: Slot,
    is_equal: fn(&dyn Any, &dyn Any) -> bool,
}

impl Computed {
    fn new<T: PartialEq + Send + Sync + 'static>(value: T) -> Self {
        let is_equal = |one: &dyn Any, other: &dyn Any| one.downcast_ref::<T>() == other.downcast_ref::<T>();
        Self { value: Box::new(value), is_equal }
    }
}

impl PartialEq for Computed {
    fn eq(&self, other: &Self) -> bool {
        (self.is_equal)(&*self.value, &*other.value)
    }
}

impl Cell for leptos::prelude::Memo<Computed> {
    fn lend(&self, told: Told, reader: &mut dyn Reader) {
        match told {
            Told::Yes => self.try_with(|computed| reader.read(&*computed.value)),
            Told::No => self.try_with_untracked(|computed| reader.read(&*computed.value)),
        };
    }
}

type Compute = Box<dyn Fn(Option<&Computed>) -> Computed + Send + Sync>;

#[track_caller]
fn memo(compute: Compute) -> leptos::prelude::Memo<Computed> {
    leptos::prelude::Memo::new(compute)
}

impl<T: PartialEq + Send + Sync + 'static> Memo<T> {
    /// What `compute` makes of the signals that it reads, and of its last value.
    #[track_caller]
    pub fn new(compute: impl Fn(Option<&T>) -> T + Send + Sync + 'static) -> Self {
        let compute: Compute =
            Box::new(move |last| Computed::new(compute(last.and_then(|last| last.value.downcast_ref()))));
        Self { cell: memo(compute), of: PhantomData }
    }
}

/// A closure that is called once with a value of one type, and what it answers.
struct Once<T, F, R> {
    closure: Option<F>,
    answer: Option<R>,
    of: PhantomData<fn(T)>,
}

impl<T, F, R> Once<T, F, R> {
    fn new(closure: F) -> Self {
        Self { closure: Some(closure), answer: None, of: PhantomData }
    }
}

impl<T: 'static, F: FnOnce(&T) -> R, R> Reader for Once<T, F, R> {
    fn read(&mut self, value: &dyn Any) {
        if let (Some(value), Some(read)) = (value.downcast_ref(), self.closure.take()) {
            self.answer = Some(read(value));
        }
    }
}

/// As a reader's, for a closure that changes the value.
struct OnceMut<T, F, R>(Once<T, F, R>);

impl<T: 'static, F: FnOnce(&mut T) -> R, R> Writer for OnceMut<T, F, R> {
    fn write(&mut self, value: &mut dyn Any) {
        if let (Some(value), Some(change)) = (value.downcast_mut(), self.0.closure.take()) {
            self.0.answer = Some(change(value));
        }
    }
}

/// Reads nothing.
struct Look;

impl Reader for Look {
    fn read(&mut self, _: &dyn Any) {}
}

/// Puts a value in another's place.
struct Replace<T>(Option<T>);

impl<T: 'static> Writer for Replace<T> {
    fn write(&mut self, value: &mut dyn Any) {
        if let (Some(value), Some(new)) = (value.downcast_mut(), self.0.take()) {
            *value = new;
        }
    }
}

/// What `read` makes of the value that a cell lends.
fn lent<T: 'static, R>(cell: &impl Cell, told: Told, read: impl FnOnce(&T) -> R) -> Option<R> {
    let mut once = Once::new(read);
    cell.lend(told, &mut once);
    once.answer
}

#[cold]
#[track_caller]
fn gone() -> ! {
    panic!("a signal is read after what it belongs to is gone")
}

impl<C: Cell, T: 'static> Typed<C, T> {
    /// What `read` makes of the value. Whoever reads is told of changes.
    #[track_caller]
    #[inline]
    pub fn with<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        lent(&self.cell, Told::Yes, read).unwrap_or_else(|| gone())
    }

    /// The same, without being told.
    #[track_caller]
    #[inline]
    pub fn with_untracked<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        lent(&self.cell, Told::No, read).unwrap_or_else(|| gone())
    }

    /// The same, while it is there.
    pub fn try_with_untracked<R>(&self, read: impl FnOnce(&T) -> R) -> Option<R> {
        lent(&self.cell, Told::No, read)
    }

    /// Whether what it belongs to is gone.
    pub fn is_disposed(&self) -> bool {
        self.try_with_untracked(|_: &T| ()).is_none()
    }

    /// A copy of the value. Whoever reads is told of changes.
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Clone,
    {
        self.with(T::clone)
    }

    /// The same, without being told.
    #[track_caller]
    pub fn get_untracked(&self) -> T
    where
        T: Clone,
    {
        self.with_untracked(T::clone)
    }

    /// The same, while it is there.
    pub fn try_get_untracked(&self) -> Option<T>
    where
        T: Clone,
    {
        self.try_with_untracked(T::clone)
    }

    /// Whoever runs now is told of changes.
    pub fn track(&self) {
        self.cell.lend(Told::Yes, &mut Look);
    }
}

impl<C: CellMut, T: 'static> Typed<C, T> {
    /// Puts another value in its place and tells whoever has read it. Does nothing once it is gone.
    pub fn set(&self, value: T) {
        self.try_set(value);
    }

    /// The same; whether it is there.
    pub fn try_set(&self, value: T) -> bool {
        let mut replace = Replace(Some(value));
        self.cell.change(Told::Yes, &mut replace);
        replace.0.is_none()
    }

    /// Changes the value and tells whoever has read it. Does nothing once it is gone.
    pub fn update(&self, change: impl FnOnce(&mut T)) {
        self.try_update(change);
    }

    /// Changes the value, tells whoever has read it, and answers with what `change` did, while it is there.
    pub fn try_update<R>(&self, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.changed(Told::Yes, change)
    }

    /// Changes the value and tells nobody.
    pub fn update_untracked<R>(&self, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.changed(Told::No, change)
    }

    fn changed<R>(&self, told: Told, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mut once = OnceMut(Once::new(change));
        self.cell.change(told, &mut once);
        once.0.answer
    }
}
