/** Clients of databases that have commands of their own. */
export const SQL_CLIENT = /^(?:psql|mysql|mariadb|sqlite3?)$/;

/** Statements that read or change data. */
const STATEMENT =
  /^(?:select|insert|update|delete|create|drop|alter|explain|pragma|with|show|describe|values|begin|commit|rollback|end|analyze|reindex|truncate|replace|set)\b/i;

/**
 * Words that start programs, load code, or read and write files: of COPY, of functions and of virtual tables. Also functions that run
 * a text as a query, and escapes in names, which hide such words. Source: the manuals of PostgreSQL 16, MySQL 8 and SQLite 3.
 */
const HARMFUL =
  /\b(?:program|edit|eval|shell|system|load\w*|attach|detach|vacuum|writefile|readfile|fsdir|lsdir|zipfile|sqlar\w*|fts3_tokenizer|virtual|\w+_directory|writable_schema|trusted_schema|copy|do|language|extension|call|execute|prepare|server|foreign|outfile|dumpfile|infile|handler|install|plugin|source|pg_(?:read|write|ls|stat|file|execute|reload|rotate)\w*|lo_\w+|dblink\w*|xp_\w+|sys_\w+|soname|\w+_log_file|sha\w*_query|query_to_xml\w*|ts_stat|ts_rewrite|crosstab\w*|uescape)\b/i;

/** Returns whether a text contains only statements that stay in the database: no client commands, nothing that starts programs. */
export function isPlainQuery(text: string): boolean {
  if (/[\\!`$\n\r]|\/\*|--/.test(text) || HARMFUL.test(text)) return false;
  return text.split(";").every((part) => part.trim() === "" || STATEMENT.test(part.trim()));
}
