@NullMarked
package io.firstclaim.processor.service.security;

import org.jspecify.annotations.NullMarked;
