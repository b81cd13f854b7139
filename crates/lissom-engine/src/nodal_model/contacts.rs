//! State events of a nodal model: where other axes had better be independent, and where contacts of stops begin and end.

use lissom_core::Commanded as _;

use super::run::NodalEquations;
use super::view::NodalView;

impl NodalEquations<'_> {
    /// Positions and velocities of a state.
    pub(super) fn motion_of<'s>(&self, state: &'s [f64]) -> (&'s [f64], &'s [f64]) {
        let (position, rest) = state.split_at(self.nodal.mechanism.position_count());
        (position, &rest[..self.nodal.mechanism.dof_count()])
    }

    /// Becomes positive at a state event.
    pub(super) fn event(&mut self, time: f64, position: &[f64], velocity: &[f64]) -> f64 {
        let repartition = self.look(time);
        let contact = self.contact_distance(time, position, velocity);
        if contact > 0.0 {
            // other axes may be independent from the next step on
            self.watch.gain = None;
            return contact;
        }
        repartition.max(contact)
    }

    /// From a state on the contacts hold that its stops have there.
    pub(super) fn enter_contacts(&mut self, time: f64, position: &[f64], velocity: &[f64]) {
        if !self.place_for_stops(time, position, velocity) {
            return;
        }
        let efforts = (self.dynamics.excitation_mut().commands_mut()).efforts_mut();
        let mut contacts = std::mem::take(&mut efforts.contacts);
        let (nodal, nodes) = (
            self.nodal,
            &mut self.dynamics.equations().view(&mut self.unused),
        );
        (nodal.actions).find_contacts(&NodalView { nodal, nodes }, &mut contacts);
        let efforts = (self.dynamics.excitation_mut().commands_mut()).efforts_mut();
        efforts.contacts = contacts;
    }

    /// From here on contacts are those of every state by itself.
    pub(super) fn leave_contacts(&mut self) {
        let commands = self.dynamics.excitation_mut().commands_mut();
        commands.efforts_mut().contacts.clear();
    }

    /// Becomes positive where a contact that holds ends.
    fn contact_distance(&mut self, time: f64, position: &[f64], velocity: &[f64]) -> f64 {
        if !self.place_for_stops(time, position, velocity) {
            return f64::NEG_INFINITY;
        }
        let (nodal, contacts) = (
            self.nodal,
            &self.dynamics.excitation().commands().efforts().contacts,
        );
        let nodes = &mut self.dynamics.equations().view(&mut self.unused);
        (nodal.actions).contact_distance(contacts, &NodalView { nodal, nodes })
    }

    /// Whether a joint may have touched a stop, and come back, within the step that ends at a state.
    pub(super) fn may_have_touched(
        &mut self,
        time: f64,
        [position, velocity]: [&[f64]; 2],
        step: f64,
    ) -> bool {
        if !self.place_for_stops(time, position, velocity) {
            return false;
        }
        let (nodal, contacts) = (
            self.nodal,
            &self.dynamics.excitation().commands().efforts().contacts,
        );
        let nodes = &mut self.dynamics.equations().view(&mut self.unused);
        (nodal.actions).may_have_touched(contacts, step, &NodalView { nodal, nodes })
    }

    /// Brings the nodes to a state, if there are stops to look at; whether they are there.
    fn place_for_stops(&mut self, time: f64, position: &[f64], velocity: &[f64]) -> bool {
        let has_stops = !self.nodal.actions.stops.is_empty();
        has_stops && (self.dynamics.set_state(time, position, velocity)).is_ok()
    }
}
