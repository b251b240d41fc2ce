/** The beans that are made from {@code firstclaim.*}. */
@NullMarked
package io.firstclaim.micronaut.config;

import org.jspecify.annotations.NullMarked;
