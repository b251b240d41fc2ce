@NullMarked
package io.firstclaim.processor.service.admin;

import org.jspecify.annotations.NullMarked;
