//! Stops of joints along a motion: which contacts hold in a piece of it, and where they end.

use super::Equations;

impl Equations<'_> {
    /// From a state on the contacts hold that its stops have there.
    pub(in crate::simulate) fn enter_contacts(
        &mut self,
        time: f64,
        positions: &[f64],
        velocities: &[f64],
    ) {
        let actions = &self.model.actions;
        if actions.stops.is_empty() {
            return;
        }
        self.unpack(time, positions, velocities);
        let mut contacts = std::mem::take(&mut self.commands.efforts_mut().contacts);
        actions.find_contacts(&self.view(), &mut contacts);
        self.commands.efforts_mut().contacts = contacts;
    }

    /// From here on contacts are those of every state by itself.
    pub(super) fn leave_contacts(&mut self) {
        self.commands.efforts_mut().contacts.clear();
    }

    /// Becomes positive where a contact that holds ends.
    pub(super) fn contact_distance(
        &mut self,
        time: f64,
        positions: &[f64],
        velocities: &[f64],
    ) -> f64 {
        let actions = &self.model.actions;
        if actions.stops.is_empty() {
            return f64::NEG_INFINITY;
        }
        self.unpack(time, positions, velocities);
        let contacts = std::mem::take(&mut self.commands.efforts_mut().contacts);
        let distance = actions.contact_distance(&contacts, &self.view());
        self.commands.efforts_mut().contacts = contacts;
        distance
    }

    /// Whether a joint may have touched a stop, and come back, within the step that ends at a state.
    pub(super) fn may_have_touched(
        &mut self,
        time: f64,
        [positions, velocities]: [&[f64]; 2],
        step: f64,
    ) -> bool {
        let actions = &self.model.actions;
        if actions.stops.is_empty() {
            return false;
        }
        self.unpack(time, positions, velocities);
        let contacts = std::mem::take(&mut self.commands.efforts_mut().contacts);
        let touched = actions.may_have_touched(&contacts, step, &self.view());
        self.commands.efforts_mut().contacts = contacts;
        touched
    }
}
