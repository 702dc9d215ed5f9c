/** A chunk of rolldown's CommonJS output, with the modules of Node's that cost a start loaded at their first use. */
export function withLazyBuiltins(code: string): string;
