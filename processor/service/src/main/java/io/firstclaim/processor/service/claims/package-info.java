/** Claims, locks and documents over HTTP, for programs in any language. */
@NullMarked
package io.firstclaim.processor.service.claims;

import org.jspecify.annotations.NullMarked;
