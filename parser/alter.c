/* parser/alter.c - ALTER TABLE, INDEX, VIEW, SEQUENCE, SCHEMA: one statement with a list of actions for all of them. */
#include "parser/internal.h"

static struct alter_action *action_new(struct parser *p, enum alter_kind kind)
{
    struct alter_action *action = arena_new(p->arena, struct alter_action);
    action->kind = kind;
    action->position = position(p);
    return action;
}

static bool parse_cascade(struct parser *p)
{
    if (accept_word(p, KEYWORD_CASCADE))
        return true;
    accept_word(p, KEYWORD_RESTRICT);
    return false;
}

static void other(struct alter_action *action, const char *what)
{
    action->kind = ALTER_OTHER;
    action->new_name = (char *)what;
}

/* Skips to the end of an action that isn't understood. */
static void skip_action(struct parser *p)
{
    int depth = 0;
    while (!next_is(p, TOKEN_END) && !next_is(p, ';') && !(depth == 0 && next_is(p, ','))) {
        if (next_is(p, '('))
            depth++;
        else if (next_is(p, ')'))
            depth--;
        advance(p);
    }
}

static void parse_add(struct parser *p, struct alter_action *action)
{
    switch ((int)peek(p)->keyword) {
    case KEYWORD_CONSTRAINT: case KEYWORD_CHECK: case KEYWORD_UNIQUE: case KEYWORD_PRIMARY: case KEYWORD_FOREIGN:
        action->kind = ALTER_ADD_CONSTRAINT;
        action->constraint = parse_table_constraint(p);
        return;
    case KEYWORD_EXCLUDE:
        if (peek_at(p, 1)->kind == '(' || after_is_word(p, KEYWORD_USING)) {
            action->kind = ALTER_ADD_CONSTRAINT;
            action->constraint = parse_table_constraint(p);
            return;
        }
        break;
    default:
        break;
    }
    action->kind = ALTER_ADD_COLUMN;
    accept_word(p, KEYWORD_COLUMN);
    if (next_is_word(p, KEYWORD_IF) && after_is_word(p, KEYWORD_NOT)) {
        advance(p);
        advance(p);
        expect_word(p, KEYWORD_EXISTS);
        action->if_not_exists = true;
    }
    action->column = parse_column_definition(p);
    action->name = action->column->name;
}

static void parse_drop_action(struct parser *p, struct alter_action *action)
{
    action->kind = accept_word(p, KEYWORD_CONSTRAINT) ? ALTER_DROP_CONSTRAINT : ALTER_DROP_COLUMN;
    if (action->kind == ALTER_DROP_COLUMN)
        accept_word(p, KEYWORD_COLUMN);
    action->if_exists = accept_words(p, KEYWORD_IF, KEYWORD_EXISTS);
    action->name = parse_name(p);
    action->cascade = parse_cascade(p);
}

/* GENERATED ... AS IDENTITY [(options)] of ADD GENERATED; at GENERATED. */
static void parse_add_identity(struct parser *p, struct alter_action *action)
{
    struct constraint_definition *constraint = arena_new(p->arena, struct constraint_definition);

    constraint->position = position(p);
    constraint->kind = CONSTRAINT_IDENTITY;
    expect_word(p, KEYWORD_GENERATED);
    constraint->identity_always = accept_word(p, KEYWORD_ALWAYS);
    if (!constraint->identity_always) {
        expect_word(p, KEYWORD_BY);
        expect_word(p, KEYWORD_DEFAULT);
    }
    expect_word(p, KEYWORD_AS);
    expect_word(p, KEYWORD_IDENTITY);
    if (accept(p, '(')) {
        parse_sequence_options(p, &constraint->options);
        expect(p, ')');
    }
    action->kind = ALTER_ADD_IDENTITY;
    action->constraint = constraint;
}

/* SET GENERATED ALWAYS, SET INCREMENT 2, RESTART: any number of them. */
static void parse_set_identity(struct parser *p, struct alter_action *action)
{
    action->kind = ALTER_SET_IDENTITY;
    for (;;) {
        if (accept_words(p, KEYWORD_SET, KEYWORD_GENERATED)) {
            struct option *option = option_new(p, "generated", OPTION_WORD, "always");
            if (!accept_word(p, KEYWORD_ALWAYS)) {
                expect_word(p, KEYWORD_BY);
                expect_word(p, KEYWORD_DEFAULT);
                option->text = "by_default";
            }
            LIST_ADD(p, action->options, option);
        } else if (next_is_word(p, KEYWORD_RESTART) || next_is_word(p, KEYWORD_SET)) {
            int count = action->options.count;
            accept_word(p, KEYWORD_SET);
            parse_sequence_options(p, &action->options);
            if (action->options.count == count) {
                fail_syntax(p);
                return;
            }
        } else {
            return;
        }
    }
}

/* ALTER [COLUMN] name ... */
static void parse_alter_column(struct parser *p, struct alter_action *action)
{
    accept_word(p, KEYWORD_COLUMN);
    if (next_is(p, TOKEN_INTEGER)) {     /* ALTER INDEX i ALTER COLUMN 1 SET STATISTICS */
        action->name = peek(p)->text;
        advance(p);
    } else {
        action->name = parse_name(p);
    }
    if (accept_word(p, KEYWORD_DROP)) {
        if (accept_word(p, KEYWORD_DEFAULT))
            action->kind = ALTER_DROP_DEFAULT;
        else if (accept_words(p, KEYWORD_NOT, KEYWORD_NULL))
            action->kind = ALTER_DROP_NOT_NULL;
        else if (accept_word(p, KEYWORD_IDENTITY)) {
            action->kind = ALTER_DROP_IDENTITY;
            action->if_exists = accept_words(p, KEYWORD_IF, KEYWORD_EXISTS);
        } else {
            expect_word(p, KEYWORD_EXPRESSION);
            action->kind = ALTER_DROP_EXPRESSION;
            action->if_exists = accept_words(p, KEYWORD_IF, KEYWORD_EXISTS);
        }
        return;
    }
    if (accept_word(p, KEYWORD_ADD)) {
        parse_add_identity(p, action);
        return;
    }
    if (next_is_word(p, KEYWORD_TYPE) ||
        (next_is_word(p, KEYWORD_SET) && after_is_word(p, KEYWORD_DATA))) {
        if (accept_word(p, KEYWORD_SET))
            advance(p);
        expect_word(p, KEYWORD_TYPE);
        action->kind = ALTER_TYPE;
        action->type = parse_type(p);
        if (accept_word(p, KEYWORD_COLLATE))
            parse_any_name(p, &action->collation_schema, &action->collation);
        if (accept_word(p, KEYWORD_USING))
            action->expr = parse_expr(p);
        return;
    }
    if (next_is_word(p, KEYWORD_RESTART)) {
        parse_set_identity(p, action);
        return;
    }
    if (next_is_word(p, KEYWORD_RESET)) {
        advance(p);
        action->kind = ALTER_SET_COLUMN_OPTIONS;
        parse_options(p, &action->options);
        return;
    }
    if (!next_is_word(p, KEYWORD_SET)) {
        fail_syntax(p);
        return;
    }
    switch ((int)peek_at(p, 1)->keyword) {
    case KEYWORD_DEFAULT:
        advance(p);
        advance(p);
        action->kind = ALTER_SET_DEFAULT;
        action->expr = parse_expr(p);
        return;
    case KEYWORD_NOT:
        advance(p);
        advance(p);
        expect_word(p, KEYWORD_NULL);
        action->kind = ALTER_SET_NOT_NULL;
        return;
    case KEYWORD_STATISTICS:
        advance(p);
        advance(p);
        action->kind = ALTER_SET_STATISTICS;
        action->number = (int)parse_signed_integer(p);
        return;
    case KEYWORD_STORAGE:
    case KEYWORD_COMPRESSION:
        advance(p);
        action->kind = next_is_word(p, KEYWORD_STORAGE) ? ALTER_SET_STORAGE : ALTER_SET_COMPRESSION;
        advance(p);
        action->new_name = parse_label(p);
        return;
    default:
        if (peek_at(p, 1)->kind == '(') {
            advance(p);
            action->kind = ALTER_SET_COLUMN_OPTIONS;
            parse_options(p, &action->options);
            return;
        }
        parse_set_identity(p, action);
    }
}

/* SET ... of the whole relation; SET is consumed. */
static void parse_set_action(struct parser *p, struct alter_action *action)
{
    if (next_is(p, '(')) {
        action->kind = ALTER_SET_OPTIONS;
        parse_options(p, &action->options);
    } else if (accept_word(p, KEYWORD_TABLESPACE)) {
        action->kind = ALTER_SET_TABLESPACE;
        action->new_name = parse_name(p);
        accept_word(p, KEYWORD_NOWAIT);
    } else if (next_is_word(p, KEYWORD_LOGGED) || next_is_word(p, KEYWORD_UNLOGGED)) {
        action->kind = ALTER_SET_LOGGED;
        action->enabled = next_is_word(p, KEYWORD_LOGGED);
        advance(p);
    } else if (accept_words(p, KEYWORD_WITHOUT, KEYWORD_CLUSTER)) {
        action->kind = ALTER_CLUSTER_ON;
    } else if (accept_words(p, KEYWORD_WITHOUT, KEYWORD_OIDS)) {
        action->kind = ALTER_SET_OPTIONS;
    } else if (accept_words(p, KEYWORD_ACCESS, KEYWORD_METHOD)) {
        other(action, "SET ACCESS METHOD");
        parse_name(p);
    } else {
        fail_syntax(p);
    }
}

static struct alter_action *parse_action(struct parser *p)
{
    struct alter_action *action = action_new(p, ALTER_OTHER);

    switch ((int)peek(p)->keyword) {
    case KEYWORD_ADD:
        advance(p);
        parse_add(p, action);
        break;
    case KEYWORD_DROP:
        advance(p);
        parse_drop_action(p, action);
        break;
    case KEYWORD_ALTER:
        advance(p);
        if (accept_word(p, KEYWORD_CONSTRAINT)) {
            action->kind = ALTER_CONSTRAINT;
            action->constraint = arena_new(p->arena, struct constraint_definition);
            action->constraint->position = position(p);
            action->name = action->constraint->name = parse_name(p);
            for (;;) {
                if (accept_word(p, KEYWORD_DEFERRABLE))
                    action->constraint->deferrable = true;
                else if (accept_words(p, KEYWORD_NOT, KEYWORD_DEFERRABLE))
                    action->constraint->deferrable = false;
                else if (accept_words(p, KEYWORD_INITIALLY, KEYWORD_DEFERRED))
                    action->constraint->initially_deferred = true;
                else if (!accept_words(p, KEYWORD_INITIALLY, KEYWORD_IMMEDIATE))
                    break;
            }
        } else {
            parse_alter_column(p, action);
        }
        break;
    case KEYWORD_VALIDATE:
        advance(p);
        expect_word(p, KEYWORD_CONSTRAINT);
        action->kind = ALTER_VALIDATE_CONSTRAINT;
        action->name = parse_name(p);
        break;
    case KEYWORD_SET:
        advance(p);
        parse_set_action(p, action);
        break;
    case KEYWORD_RESET:
        advance(p);
        action->kind = ALTER_RESET_OPTIONS;
        parse_options(p, &action->options);
        break;
    case KEYWORD_OWNER:
        advance(p);
        expect_word(p, KEYWORD_TO);
        action->kind = ALTER_OWNER;
        action->new_name = parse_role(p);
        break;
    case KEYWORD_CLUSTER:
        advance(p);
        expect_word(p, KEYWORD_ON);
        action->kind = ALTER_CLUSTER_ON;
        action->name = parse_name(p);
        break;
    case KEYWORD_ENABLE:
    case KEYWORD_DISABLE:
        action->enabled = next_is_word(p, KEYWORD_ENABLE);
        advance(p);
        if (!accept_word(p, KEYWORD_REPLICA))
            accept_word(p, KEYWORD_ALWAYS);
        if (accept_word(p, KEYWORD_TRIGGER)) {
            action->kind = ALTER_TRIGGER;
            action->name = parse_label(p);
        } else if (accept_word(p, KEYWORD_RULE)) {
            other(action, "RULE");
            parse_name(p);
        } else {
            other(action, "ROW LEVEL SECURITY");
            expect_word(p, KEYWORD_ROW);
            expect_word(p, KEYWORD_LEVEL);
            expect_word(p, KEYWORD_SECURITY);
        }
        break;
    case KEYWORD_INHERIT: other(action, "INHERIT"); skip_action(p); break;
    case KEYWORD_NO: other(action, "NO INHERIT"); skip_action(p); break;
    case KEYWORD_ATTACH: other(action, "ATTACH PARTITION"); skip_action(p); break;
    case KEYWORD_DETACH: other(action, "DETACH PARTITION"); skip_action(p); break;
    case KEYWORD_REPLICA: other(action, "REPLICA IDENTITY"); skip_action(p); break;
    case KEYWORD_FORCE: other(action, "FORCE ROW LEVEL SECURITY"); skip_action(p); break;
    case KEYWORD_OF: other(action, "OF"); skip_action(p); break;
    case KEYWORD_DEPENDS: other(action, "DEPENDS ON EXTENSION"); skip_action(p); break;
    case KEYWORD_NOT:
        advance(p);
        action->kind = ALTER_OTHER;
        if (accept_word(p, KEYWORD_OF)) {
            action->new_name = "NOT OF";
        } else {
            fail_syntax(p);
        }
        break;
    default:
        fail_syntax(p);
    }
    return action;
}

/* SET SCHEMA s: never in a list either. */
static struct alter_action *parse_set_schema(struct parser *p)
{
    struct alter_action *action = action_new(p, ALTER_SET_SCHEMA);

    advance(p);
    advance(p);
    action->new_name = parse_name(p);
    return action;
}

/* RENAME TO b, RENAME [COLUMN] a TO b, RENAME CONSTRAINT a TO b: never in a list. */
static struct alter_action *parse_rename(struct parser *p)
{
    struct alter_action *action = action_new(p, ALTER_RENAME);

    expect_word(p, KEYWORD_RENAME);
    if (accept_word(p, KEYWORD_TO)) {
        action->new_name = parse_name(p);
        return action;
    }
    action->kind = ALTER_RENAME_COLUMN;
    if (accept_word(p, KEYWORD_CONSTRAINT))
        action->kind = ALTER_RENAME_CONSTRAINT;
    else
        accept_word(p, KEYWORD_COLUMN);
    action->name = parse_name(p);
    expect_word(p, KEYWORD_TO);
    action->new_name = parse_name(p);
    return action;
}

struct statement *parse_alter(struct parser *p)
{
    struct statement *statement = statement_new(p, STATEMENT_ALTER, sizeof(struct alter_statement));
    struct alter_statement *alter = statement->alter;
    struct { struct alter_action **items; int count; } actions = {0};

    expect_word(p, KEYWORD_ALTER);
    switch ((int)peek(p)->keyword) {
    case KEYWORD_TABLE: alter->object = OBJECT_TABLE; break;
    case KEYWORD_INDEX: alter->object = OBJECT_INDEX; break;
    case KEYWORD_VIEW: alter->object = OBJECT_VIEW; break;
    case KEYWORD_SEQUENCE: alter->object = OBJECT_SEQUENCE; break;
    case KEYWORD_SCHEMA: alter->object = OBJECT_SCHEMA; break;
    default: return parse_unsupported_object(p, "ALTER");
    }
    advance(p);
    if (alter->object != OBJECT_SCHEMA && next_is_word(p, KEYWORD_ALL) && after_is_word(p, KEYWORD_IN))
        return statement_unsupported(p, "ALTER ALL IN TABLESPACE");
    if (alter->object != OBJECT_SCHEMA)
        alter->if_exists = accept_words(p, KEYWORD_IF, KEYWORD_EXISTS);
    alter->relation = alter->object == OBJECT_TABLE ? parse_relation_expr(p) : parse_relation_name(p);

    if (next_is_word(p, KEYWORD_RENAME)) {
        LIST_ADD(p, actions, parse_rename(p));
    } else if (next_is_word(p, KEYWORD_SET) && after_is_word(p, KEYWORD_SCHEMA)) {
        LIST_ADD(p, actions, parse_set_schema(p));
    } else if (alter->object == OBJECT_SEQUENCE && !next_is_word(p, KEYWORD_OWNER) && !next_is_word(p, KEYWORD_SET)) {
        struct statement *sequence =
            statement_new(p, STATEMENT_ALTER_SEQUENCE, sizeof(struct sequence_statement));
        sequence->sequence->relation = alter->relation;
        sequence->sequence->if_exists = alter->if_exists;
        parse_sequence_options(p, &sequence->sequence->options);
        if (sequence->sequence->options.count == 0)
            fail_syntax(p);
        return sequence;
    } else {
        do {
            LIST_ADD(p, actions, parse_action(p));
        } while (accept(p, ','));
    }
    alter->actions = actions.items;
    alter->action_count = actions.count;
    return statement;
}
