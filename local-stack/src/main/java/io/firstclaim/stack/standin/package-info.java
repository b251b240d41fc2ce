/**
 * DynamoDB's operations without a transport: what the product asks of DynamoDB and nothing else, in
 * memory, with conditions evaluated for real. Behind a server that is no wall, it passes the
 * contracts of the DynamoDB stores; what it does not know it refuses loudly.
 */
@NullMarked
package io.firstclaim.stack.standin;

import org.jspecify.annotations.NullMarked;
