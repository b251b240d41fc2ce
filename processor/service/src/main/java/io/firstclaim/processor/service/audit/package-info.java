/** Makes the audit. */
@NullMarked
package io.firstclaim.processor.service.audit;

import org.jspecify.annotations.NullMarked;
