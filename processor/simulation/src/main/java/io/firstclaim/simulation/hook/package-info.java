/** What lies on the boot class path; null-marked it cannot be, as it uses the JDK alone. */
package io.firstclaim.simulation.hook;
