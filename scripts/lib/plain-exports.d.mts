/** Returns a chunk of rolldown's CommonJS output in which exports that never change are plain properties. */
export function withPlainExports(code: string): string;
