//! Routines of endpoints, with their connections.

use crate::check_one;
use insta::assert_snapshot;

#[test]
fn routines_are_taken_over() {
    assert_snapshot!(check_one(
        "
connections:
  - id: shop
    type: AxiosHttp
    properties:
      baseUrl: https://shop.example.com/api
      timeout: 5000
  - id: sql
    type: Knex
    properties:
      client: pg
      connection: { host: { _secret: PG_HOST }, user: app }
  - id: documents
    type: MongoDBCollection
    properties: { collection: users }
api:
  - id: orders/find
    type: Api
    description: Finds orders.
    payloadSchema:
      type: object
      properties: { customer: { type: string } }
      required: [customer]
    routine:
      - id: orders
        type: AxiosHttp
        connectionId: shop
        properties:
          url: { _string.concat: ['/customers/', { _payload: customer }, '/orders'] }
          method: get
          params: { limit: 20 }
      - id: rows
        type: KnexRaw
        connectionId: sql
        properties:
          query: select * from notes where customer = ? and kind <> '?'
          parameters: [{ _payload: customer }]
      - :set_state: { count: 0 }
      - :parallel_for: row
        :in: { _step: rows.rows }
        :do:
          :log: { _item: row.id }
          :level: info
      - :if: { _eq: [{ _step: orders.data.total }, 0] }
        :then:
          :reject: No orders.
      - :switch:
          - :case: { _payload: customer }
            :then: { :return: { orders: { _step: orders.data.items }, notes: { _step: rows.rows } } }
        :default: { :throw: Never. }
  - id: users/find
    type: Api
    routine:
      - id: user
        type: MongoDBFindOne
        connectionId: documents
        properties: { query: { _id: { _payload: id } } }
      - id: orders
        type: CallApi
        properties: { endpointId: orders/find, payload: { customer: { _payload: id } } }
      - :return: { user: { _step: user.name }, orders: { _step: orders.orders } }
"
    ), @r#"
    connections:
      # lowdefy.yaml, line 3
      - id: shop
        type: Http
        properties:
          baseURL: https://shop.example.com/api
          timeoutMs: 5000

      # lowdefy.yaml, line 8
      - id: sql
        type: Sql
        properties:
          url: { _secret: SQL_URL }

    api:
      # lowdefy.yaml, line 17
      - id: orders/find
        type: Api
        description: Finds orders.
        payloadSchema:
          type: object
          properties:
            customer:
              type: string
          required: [customer]
        routine:
          - id: orders
            type: Http
            connectionId: shop
            properties:
              path: { _template: "/customers/{{ payload.customer }}/orders" }
              method: GET
              query:
                limit: 20
          - id: rows
            type: SqlQuery
            connectionId: sql
            properties:
              query: select * from notes where customer = :p1 and kind <> '?'
              parameters:
                p1: { _payload: customer }
          - :set_state:
              count: 0
          - :for: row
            :in: { _step: rows }
            :do:
              - :log: { _item: row.id }
          - :if: { _eq: [{ _step: orders.body.total }, 0] }
            :then:
              - :reject: No orders.
          - :switch:
              - :case: { _payload: customer }
                :then:
                  - :return:
                      orders: { _step: orders.body.items }
                      notes: { _step: rows }
            :default:
              - :throw: Never.

      # lowdefy.yaml, line 51
      - id: users/find
        type: Api
        routine:
          # to do: the import left out this step
          - :throw: "Not taken over from Lowdefy: step user of the type MongoDBFindOne"
          - id: orders
            type: CallEndpoint
            properties:
              endpointId: orders/find
              payload:
                customer: { _payload: id }
          # to do: the import left out this step
          - :throw: "Not taken over from Lowdefy: step :return"
    --- .env.example
    # The secrets that the config reads. In Lowdefy their names began with LOWDEFY_SECRET_.
    # postgres://USER:PASSWORD@HOST:5432/DATABASE
    SQL_URL=

    lowdefy.yaml:12:19: warning: changed: host, user and password of the database are one address now
        |
     12 |       connection: { host: { _secret: PG_HOST }, user: app }
        |                   ^
        = help: set `SQL_URL` to postgres://USER:PASSWORD@HOST:5432/DATABASE

    lowdefy.yaml:13:5: warning: left out: the connection of the type `MongoDBCollection`
        |
     13 |   - id: documents
        |     ^^
        = help: use a database with SQL (`Sql`: PostgreSQL or SQLite), or a web service in front of MongoDB (`Http`)

    lowdefy.yaml:39:9: warning: changed: `:parallel_for` runs one item after the other
        |
     39 |       - :parallel_for: row
        |         ^^^^^^^^^^^^^
        = help: use `:parallel` for a fixed number of branches

    lowdefy.yaml:43:11: warning: left out: `:level`
        |
     43 |           :level: info
        |           ^^^^^^

    lowdefy.yaml:54:9: warning: left out: the step `user` of the type `MongoDBFindOne`
        |
     54 |       - id: user
        |         ^^
        = help: use a database with SQL (`Sql`: PostgreSQL or SQLite), or a web service in front of MongoDB (`Http`)

    lowdefy.yaml:61:35: warning: left out: the step `:return`: no step before this one has the id `user`
        |
     61 |       - :return: { user: { _step: user.name }, orders: { _step: orders.orders } }
        |                                   ^^^^^^^^^
        = help: the only one is `orders`

    taken over: 2 connections, 2 endpoints; left out: 4; changed: 2
    "#);
}

/// Checks which step a step becomes, and that a note has this text.
fn check_step(step: &str, expected: &str, note: &str) {
    let app = format!(
        "
connections:
  - {{ id: web, type: AxiosHttp, properties: {{ baseUrl: https://web.example.com/v1 }} }}
  - {{ id: sql, type: Knex, properties: {{ client: pg, connection: {{ _secret: SQL }} }} }}
api:
  - id: find
    type: Api
    payloadSchema: {{ type: object, properties: {{ city: {{ type: string }}, days: {{ type: string }} }} }}
    routine:
      - {step}
"
    );
    let rendered = check_one(&app);
    let (_, routine) = rendered.split_once("    routine:\n").unwrap_or_else(|| panic!("{rendered}"));
    let (routine, _) = routine.split_once("--- ").unwrap_or((routine, ""));
    assert_eq!(routine.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{rendered}");
    assert!(rendered.contains(note), "{note}\n{rendered}");
}

#[test]
fn addresses_with_parameters_are_split() {
    let check = |url: &str, expected: &str| {
        let step = format!("{{ id: a, type: AxiosHttp, connectionId: web, properties: {{ url: {url} }} }}");
        check_step(&step, &format!("- id: a type: Http connectionId: web properties: {expected}"), "left out: 0");
    };
    check("/current?city=New%20York&lang=", "path: /current query: city: New York lang: \"\"");
    check(
        "{ _string.concat: ['/current?city=', { _payload: city }] }",
        "path: /current query: city: { _payload: city }",
    );
    check(
        "{ _string.concat: [/days/, { _payload: days }, '?q=', { _payload: city }, '&of=', 3, '-', { _payload: days }] }",
        "path: { _template: \"/days/{{ payload.days }}\" } query: q: { _payload: city } of: { _template: \"3-{{ payload.days }}\" }",
    );
}

#[test]
fn parameters_of_statements_are_named() {
    let check = |properties: &str, expected: &str, note: &str| {
        let step = format!("{{ id: a, type: KnexRaw, connectionId: sql, properties: {{ {properties} }} }}");
        check_step(&step, expected, note);
    };
    let converted = |properties: &str| format!("- id: a type: SqlQuery connectionId: sql properties: {properties}");
    check(
        "query: 'select * from a where b = :city and c = :days::int', parameters: { city: { _payload: city }, days: 3 }",
        &converted(
            "query: select * from a where b = :city and c = :days::int parameters: city: { _payload: city } days: 3",
        ),
        "left out: 0",
    );
    check(
        "query: select * from a where b = ?, parameters: { _payload: city }, method: first",
        &converted("query: select * from a where b = :p1 parameters: p1: { _payload: city }"),
        "left out: `method` of a statement",
    );
    let failed =
        "# to do: the import left out this step - :throw: \"Not taken over from Lowdefy: step a of the type KnexRaw\"";
    check("query: 'select ?? from a', parameters: [city]", failed, "write the identifiers into the statement");
    check("query: 'select :city: from a', parameters: { city: b }", failed, "write the identifiers into the statement");
    check(
        "query: 'select ? from a where b = ?', parameters: [1]",
        failed,
        "write a named parameter `:name` for each `?`",
    );
}
