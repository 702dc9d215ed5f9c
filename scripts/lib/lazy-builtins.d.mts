/**
 * Returns a chunk of rolldown's CommonJS output in which slow modules of Node are loaded at their first use.
 */
export function withLazyBuiltins(code: string): string;
