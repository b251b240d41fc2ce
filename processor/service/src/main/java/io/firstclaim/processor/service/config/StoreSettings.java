package io.firstclaim.processor.service.config;

import io.firstclaim.lock.ClaimSettings;

/**
 * The settings of the lock store alone.
 *
 * @param claims what all claims have in common
 * @param backend where they are kept
 */
public record StoreSettings(ClaimSettings claims, Backend backend) {}
