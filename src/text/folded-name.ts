export function isAscii(text: string): boolean {
  return /^\p{ASCII}*$/u.test(text);
}

/**
 * Normalizes a name like a file system that ignores case and the composition of letters: there, `.ſsh` is `.ssh`.
 */
export function foldedName(name: string): string {
  return name.normalize("NFC").toUpperCase().toLowerCase();
}
