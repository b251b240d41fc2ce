@NullMarked
package io.firstclaim.processor.service.store;

import org.jspecify.annotations.NullMarked;
