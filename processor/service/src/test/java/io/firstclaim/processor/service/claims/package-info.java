@NullMarked
package io.firstclaim.processor.service.claims;

import org.jspecify.annotations.NullMarked;
