/** The lock stores that can be chosen: each opened, created, verified and probed in one place. */
@NullMarked
package io.firstclaim.processor.service.store;

import org.jspecify.annotations.NullMarked;
