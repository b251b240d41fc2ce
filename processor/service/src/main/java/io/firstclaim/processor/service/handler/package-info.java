/**
 * What can be done with a record, each way a {@link io.firstclaim.processor.handler.RecordHandler}:
 * the service's own, and how the user's are found.
 */
@NullMarked
package io.firstclaim.processor.service.handler;

import org.jspecify.annotations.NullMarked;
