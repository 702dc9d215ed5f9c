/** A chunk of rolldown's CommonJS output, with what never changes handed on as plain properties. */
export function withPlainExports(code: string): string;
