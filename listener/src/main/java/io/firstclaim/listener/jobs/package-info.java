/** Jobs that are run once each time they are due, in any framework. */
@NullMarked
package io.firstclaim.listener.jobs;

import org.jspecify.annotations.NullMarked;
