//! Files of Lissom.
