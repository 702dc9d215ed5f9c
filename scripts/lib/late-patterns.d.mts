/** A chunk of rolldown's CommonJS output, with each expression that names Unicode properties built where it is used. */
export function withLatePatterns(code: string): string;
